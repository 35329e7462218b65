// SPDX-License-Identifier: Apache-2.0
// What the chart draws: a series a statistic over the rows, and the worst of each stretch of rows that falls on one pixel.
import { DerivedColumn, NumberColumn } from "./columns";
import { RESULTS, type Table } from "./data";

export interface Series {
  key: string;
  label: string;
  at: (row: number) => number; // >= 0; NaN: nothing to draw
}

// Keys of columns by the order in which they are looked for; the first group that is there is drawn.
const SOURCES: [key: string, label: string, value: (of: number) => number][][] = [
  ["norm", "max", "min", "mean"].map((name) => [`${name}_error`, name, (percent: number) => percent / 100]),
  [
    ["max_rel", "MaxRelativeErr", (value: number) => value],
    ["max_abs", "MaxAbsErr", (value: number) => value],
    ["cosine", "1 - Cosine", (value: number) => 1 - value],
  ],
  ["norm", "max", "min", "mean"].map((name) => [`target_${name}`, name, Math.abs]),
];

export function seriesOf(table: Table): Series[] {
  for (const group of SOURCES) {
    const found: Series[] = [];
    for (const [key, label, value] of group) {
      const column = table.byKey.get(key);
      if (column instanceof DerivedColumn) {
        const values = column.values();
        found.push({ key, label, at: (row) => value(values[row] ?? NaN) });
      } else if (column instanceof NumberColumn) {
        found.push({ key, label, at: (row) => value(column.numbers[row] ?? NaN) });
      }
    }
    if (found.length > 0) {
      return found;
    }
  }
  return [];
}

export const NOT_FINITE = 1;
export const UNMATCHED = 2;

/** For each row what is marked beside the series. */
export function marksOf(table: Table): Uint8Array {
  const marks = new Uint8Array(table.rows);
  for (const side of ["target", "golden"]) {
    for (const name of ["max", "min", "norm"]) {
      const column = table.byKey.get(`${side}_${name}`);
      if (!(column instanceof NumberColumn)) {
        continue;
      }
      const words = new Set<number>();
      column.words.each((row) => words.add(row));
      for (let row = 0; row < table.rows; row++) {
        if (!Number.isFinite(column.numbers[row]) && !words.has(row)) {
          marks[row] = NOT_FINITE;
        }
      }
    }
  }
  const unmatched = RESULTS.indexOf("unmatched");
  for (let row = 0; row < table.rows; row++) {
    if (table.results[row] === unmatched) {
      marks[row] = (marks[row] ?? 0) | UNMATCHED;
    }
  }
  return marks;
}

export interface Buckets {
  x: number[]; // the first row of each
  values: (number | null)[][]; // by series; null: nothing above zero
  worst: number[]; // the row to tell of
  marks: number[]; // all marks in it
}

/** Rows [from, until) in at most `most` buckets. */
export function bucketed(series: Series[], marks: Uint8Array, from: number, until: number, most: number): Buckets {
  const size = Math.max(1, Math.ceil((until - from) / most));
  const buckets: Buckets = { x: [], values: series.map(() => []), worst: [], marks: [] };
  for (let start = from; start < until; start += size) {
    const end = Math.min(until, start + size);
    const largest = series.map(() => 0);
    let worstRow = start;
    let worstValue = -1;
    let mark = 0;
    for (let row = start; row < end; row++) {
      mark |= marks[row] ?? 0;
      for (let i = 0; i < series.length; i++) {
        const value = series[i]?.at(row) ?? NaN;
        const weight = ((marks[row] ?? 0) & NOT_FINITE) !== 0 ? Infinity : value;
        if (weight > worstValue) {
          worstValue = weight;
          worstRow = row;
        }
        if (value > (largest[i] ?? 0) && value !== Infinity) {
          largest[i] = value;
        }
      }
    }
    buckets.x.push(start);
    buckets.worst.push(worstRow);
    buckets.marks.push(mark);
    largest.forEach((value, i) => buckets.values[i]?.push(value > 0 ? value : null));
  }
  return buckets;
}
