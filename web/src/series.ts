// SPDX-License-Identifier: Apache-2.0
// What the chart draws: groups of series over the rows, and the worst of each stretch of rows that falls on one pixel.
import { DerivedColumn, NumberColumn } from "./columns";
import { RESULTS, type Table } from "./data";
import { distanceLimit, levelName, levelsOf } from "./levels";
import type { TableInfo } from "./model";
import { type Key, text } from "./texts";

export const SHAPES = ["circle", "triangle", "wedge", "diamond", "square"] as const;
export type Shape = (typeof SHAPES)[number];

export interface Series {
  label: string;
  shape: Shape;
  colour: string; // a variable of the style sheet
  at: (row: number) => number; // >= 0; NaN: nothing to draw
}

export interface Group {
  key: "error" | "tensor" | "value" | "distance";
  title: Key;
  series: Series[];
  limit: number; // a line across; NaN: none
}

type Source = [key: string, label: Key | null, value: (of: number) => number];

const STATISTICS = ["norm", "max", "min", "mean"] as const;
// By the keys of the columns.
const SOURCES: [group: Group["key"], title: Key, sources: Source[]][] = [
  ["error", "chart_compare", STATISTICS.map((name): Source => [`${name}_error`, name, (percent) => percent / 100])],
  [
    "tensor",
    "chart_tensor",
    [
      ["max_rel", null, (value) => value],
      ["max_abs", null, (value) => value],
      ["cosine", null, (value) => Math.abs(1 - value)],
    ],
  ],
  ["value", "chart_view", STATISTICS.map((name): Source => [`target_${name}`, name, Math.abs])],
];

function ofColumns(table: Table, sources: Source[]): Series[] {
  const found: Series[] = [];
  for (const [key, label, value] of sources) {
    const column = table.byKey.get(key);
    const place = found.length;
    const add = (numbers: Float64Array): void => {
      found.push({
        label: label === null ? (key === "cosine" ? "1 - Cosine" : (column?.title ?? key)) : text(label),
        shape: SHAPES[place] ?? "circle",
        colour: `--series${place}`,
        at: (row) => value(numbers[row] ?? NaN),
      });
    };
    if (column instanceof DerivedColumn) {
      add(column.values());
    } else if (column instanceof NumberColumn) {
      add(column.numbers);
    }
  }
  return found;
}

/** E, a series a level, so that what is above the noise has another shape and colour. */
function ofDistance(table: Table, info: TableInfo): Group | null {
  const column = table.byKey.get("distance");
  if (!(column instanceof NumberColumn) || !info.verdict) {
    return null;
  }
  const levels = levelsOf(table, info, "distance");
  const shapes: Shape[] = ["circle", "triangle", "square"];
  const series = (["pass", "warning", "error"] as const).map((result, i): Series => {
    const level = RESULTS.indexOf(result);
    return {
      label: levelName(result, "distance"),
      shape: shapes[i] ?? "circle",
      colour: `--${result}`,
      at: (row) => (levels[row] === level ? (column.numbers[row] ?? NaN) : NaN),
    };
  });
  return { key: "distance", title: "chart_distance", series, limit: distanceLimit(info) };
}

/** What can be drawn of a table; nothing where it has no numbers. */
export function groupsOf(table: Table, info: TableInfo): Group[] {
  const groups: Group[] = [];
  for (const [key, title, sources] of SOURCES) {
    const series = ofColumns(table, sources);
    if (series.length > 0 && (key !== "value" || groups.length === 0)) {
      groups.push({ key, title, series, limit: NaN });
    }
  }
  const distance = ofDistance(table, info);
  return distance ? [...groups, distance] : groups;
}

export const NOT_FINITE = 1;
export const UNMATCHED = 2;
export const OFF_SCALE = 4; // infinite, though no number of the dumps is
export const DIFFERS = 8; // checksums

/** For each row what is marked beside the series. */
export function marksOf(table: Table): Uint8Array {
  const marks = new Uint8Array(table.rows);
  for (const side of ["target", "golden"]) {
    const columns = ["max", "min", "norm"].map((name) => table.byKey.get(`${side}_${name}`));
    const [max, min, norm] = columns.map((column) => (column instanceof NumberColumn ? column : null));
    const words = new Set<number>();
    for (const column of [max, min, norm]) {
      column?.words.each((row) => words.add(row));
    }
    const wrong = (column: NumberColumn | null | undefined, row: number): boolean => column !== null && column !== undefined && !Number.isFinite(column.numbers[row]);
    for (let row = 0; row < table.rows; row++) {
      // -Inf below a finite maximum is what a mask leaves. It makes the norm infinite, and so do large numbers.
      const low = wrong(min, row) && !(min?.numbers[row] === -Infinity && !wrong(max, row));
      if (!words.has(row) && (wrong(max, row) || low || (norm && Number.isNaN(norm.numbers[row])))) {
        marks[row] = NOT_FINITE;
      }
    }
  }
  const unmatched = RESULTS.indexOf("unmatched");
  const error = table.byKey.has("target_md5") && table.byKey.has("golden_md5") ? RESULTS.indexOf("error") : -1;
  for (let row = 0; row < table.rows; row++) {
    const result = table.results[row];
    marks[row] = (marks[row] ?? 0) | (result === unmatched ? UNMATCHED : 0) | (result === error ? DIFFERS : 0);
  }
  return marks;
}

/** Whether any value has no place on a logarithmic scale. */
export function specialsOf(series: Series[], rows: number): { zero: boolean; infinite: boolean } {
  const found = { zero: false, infinite: false };
  for (const each of series) {
    for (let row = 0; row < rows && !(found.zero && found.infinite); row++) {
      const value = each.at(row);
      found.zero ||= value === 0;
      found.infinite ||= value === Infinity;
    }
  }
  return found;
}

export interface Buckets {
  x: number[]; // the first place of each
  values: (number | null)[][]; // by series; null: nothing above zero
  zeros: number[]; // bit i: of series i nothing is above zero, and something is zero
  worst: number[]; // the row to tell of
  marks: number[]; // all marks in it
}

/** The rows sequence[from] to sequence[until - 1] in at most `most` buckets. */
export function bucketed(series: Series[], marks: Uint8Array, sequence: Uint32Array, from: number, until: number, most: number): Buckets {
  const size = Math.max(1, Math.ceil((until - from) / most));
  const buckets: Buckets = { x: [], values: series.map(() => []), zeros: [], worst: [], marks: [] };
  for (let start = from; start < until; start += size) {
    const end = Math.min(until, start + size);
    const largest = series.map(() => -1);
    let worstRow = sequence[start] ?? 0;
    let worstValue = -1;
    let mark = 0;
    for (let at = start; at < end; at++) {
      const row = sequence[at] ?? 0;
      const own = marks[row] ?? 0;
      let weight = (own & NOT_FINITE) !== 0 ? Infinity : own !== 0 ? 0 : -1;
      for (let i = 0; i < series.length; i++) {
        const value = series[i]?.at(row) ?? NaN;
        if (value > weight) {
          weight = value;
        }
        if (value === Infinity) {
          mark |= (own & NOT_FINITE) === 0 ? OFF_SCALE : 0;
        } else if (value > (largest[i] ?? -1)) {
          largest[i] = value;
        }
      }
      mark |= own;
      if (weight > worstValue) {
        worstValue = weight;
        worstRow = row;
      }
    }
    buckets.x.push(start);
    buckets.worst.push(worstRow);
    buckets.marks.push(mark);
    buckets.zeros.push(largest.reduce((bits, value, i) => bits | (value === 0 ? 1 << i : 0), 0));
    largest.forEach((value, i) => buckets.values[i]?.push(value > 0 ? value : null));
  }
  return buckets;
}
