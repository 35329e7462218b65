// SPDX-License-Identifier: Apache-2.0
// The columns of a table: what stands in each cell, as text and as a number.

export interface Column {
  readonly key: string;
  readonly title: string;
  readonly numeric: boolean;
  text(row: number): string; // with all digits
  shown(row: number): string; // as the table shows it
  value(row: number): number; // to sort by; NaN where no number stands
}

/** The cells of a column of numbers that hold something else, in the order of rows. */
export class Words {
  constructor(
    private readonly words: string[],
    private readonly rows: Int32Array,
    private readonly ids: Int32Array,
  ) {}

  at(row: number): string | undefined {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.rows[middle] ?? 0) < row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return this.rows[low] === row ? this.words[this.ids[low] ?? 0] : undefined;
  }

  each(act: (row: number, word: string) => void): void {
    this.rows.forEach((row, i) => {
      act(row, this.words[this.ids[i] ?? 0] ?? "");
    });
  }
}

// Smaller ones have an exponent, as in the program's tables.
const SMALLEST_PLAIN = 1e-4;
const LARGEST_WHOLE = 1e15;

export function numberText(value: number): string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  return value !== 0 && Math.abs(value) < SMALLEST_PLAIN ? value.toExponential() : String(value);
}

/** Six digits: enough to see a difference, short enough for a column. Whole numbers have all of theirs there. */
export function shortNumber(value: number, digits = 6): string {
  if (!Number.isFinite(value) || (digits >= 6 && Number.isInteger(value) && Math.abs(value) < LARGEST_WHOLE)) {
    return numberText(value);
  }
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? rounded.toExponential() : String(rounded);
}

export function wordValue(word: string): number {
  const text = word.trim().replace(/%$/, "");
  if (text === "inf" || text === "-inf") {
    return text === "inf" ? Infinity : -Infinity;
  }
  return text === "" ? NaN : Number(text);
}

export class TextColumn implements Column {
  readonly numeric = false;
  constructor(
    readonly key: string,
    readonly title: string,
    readonly texts: string[],
    readonly ids: Int32Array,
  ) {}
  text(row: number): string {
    return this.texts[this.ids[row] ?? 0] ?? "";
  }
  shown(row: number): string {
    return this.text(row);
  }
  value(): number {
    return NaN;
  }
}

export class NameColumn implements Column {
  readonly numeric = false;
  constructor(
    readonly key: string,
    readonly title: string,
    readonly ops: string[],
    readonly opIds: Int32Array,
    readonly suffixes: string[],
    readonly suffixIds: Int32Array,
  ) {}
  op(row: number): string {
    return this.ops[this.opIds[row] ?? 0] ?? "";
  }
  suffix(row: number): string {
    return this.suffixes[this.suffixIds[row] ?? 0] ?? "";
  }
  text(row: number): string {
    return this.op(row) + this.suffix(row);
  }
  shown(row: number): string {
    return this.text(row);
  }
  value(): number {
    return NaN;
  }
}

export class NumberColumn implements Column {
  readonly numeric = true;
  constructor(
    readonly key: string,
    readonly title: string,
    readonly numbers: Float64Array,
    readonly words: Words,
  ) {}
  isEmpty(): boolean {
    let said = 0;
    this.words.each((_, word) => {
      said += word.length;
    });
    return said === 0 && this.numbers.every(Number.isNaN);
  }
  text(row: number): string {
    return this.words.at(row) ?? numberText(this.value(row));
  }
  shown(row: number): string {
    return this.words.at(row) ?? shortNumber(this.value(row), this.key === "distance" ? 4 : 6);
  }
  value(row: number): number {
    return this.numbers[row] ?? NaN;
  }
}

export class DerivedColumn implements Column {
  readonly numeric = true;
  private cache: Float64Array | null = null;
  constructor(
    readonly key: string,
    readonly title: string,
    readonly kind: "difference" | "relative",
    private readonly target: NumberColumn,
    private readonly golden: NumberColumn,
    readonly words: Words,
  ) {}

  /** All values; of relative errors percent. */
  values(): Float64Array {
    if (this.cache === null) {
      const target = this.target.numbers;
      const golden = this.golden.numbers;
      const values = new Float64Array(target.length);
      for (let row = 0; row < values.length; row++) {
        const right = golden[row] ?? NaN;
        const difference = (target[row] ?? NaN) - right;
        values[row] =
          target[row] === right ? 0 : this.kind === "difference" ? difference : Math.abs((difference / right) * 100);
      }
      this.words.each((row, word) => {
        values[row] = wordValue(word);
      });
      this.cache = values;
    }
    return this.cache;
  }
  value(row: number): number {
    return this.values()[row] ?? NaN;
  }
  text(row: number): string {
    return this.words.at(row) ?? this.withUnit(numberText(this.value(row)));
  }
  shown(row: number): string {
    return this.words.at(row) ?? this.withUnit(shortNumber(this.value(row)));
  }
  private withUnit(text: string): string {
    return this.kind === "relative" && text !== "0" && !/[a-z]$/.test(text) ? `${text}%` : text;
  }
}
