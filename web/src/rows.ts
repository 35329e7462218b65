// SPDX-License-Identifier: Apache-2.0
// Which rows are shown, in which order.
import { type Column, NameColumn, TextColumn } from "./columns";
import { RESULTS, type Table } from "./data";
import type { State } from "./state";
import type { ModuleTree } from "./modules";

/** Rows that the filter lets through, sorted. `levels` are what the filter on results looks at. */
export function chosenRows(table: Table, tree: ModuleTree, levels: Uint8Array, state: State): Uint32Array {
  const found = new Uint32Array(table.rows);
  const wanted = state.results.map((each) => RESULTS.indexOf(each));
  const inModule = state.module === "" ? null : tree.opsBelow(state.module);
  const text = state.text.toLowerCase();
  const opHas = text === "" ? null : table.ops.map((op) => op.toLowerCase().includes(text));
  const names = ["target_name", "golden_name"].map((key) => table.byKey.get(key));
  const dtypes = ["target_dtype", "golden_dtype"].map((key) => table.byKey.get(key));
  let count = 0;
  for (let row = 0; row < table.rows; row++) {
    const op = table.opIds[row] ?? 0;
    if (wanted.length > 0 && !wanted.includes(levels[row] ?? 0)) {
      continue;
    }
    if (inModule && !inModule[op]) {
      continue;
    }
    if (state.dtype !== "" && !dtypes.some((column) => column?.text(row) === state.dtype)) {
      continue;
    }
    if (opHas && !opHas[op] && !names.some((column) => column?.text(row).toLowerCase().includes(text))) {
      continue;
    }
    found[count++] = row;
  }
  const rows = found.slice(0, count);
  const column = state.sort === "" ? undefined : table.byKey.get(state.sort);
  return column ? sorted(rows, column, state.descending) : rows;
}

function ranks(texts: string[]): Float64Array {
  const order = texts.map((_, id) => id).sort((a, b) => compareTexts(texts[a] ?? "", texts[b] ?? ""));
  const rank = new Float64Array(texts.length);
  order.forEach((id, place) => {
    rank[id] = place;
  });
  return rank;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortKeys(rows: Uint32Array, column: Column): Float64Array {
  const keys = new Float64Array(rows.length);
  let key = (row: number): number => column.value(row);
  if (column instanceof TextColumn) {
    const rank = ranks(column.texts);
    key = (row) => rank[column.ids[row] ?? 0] ?? 0;
  } else if (column instanceof NameColumn) {
    const ops = ranks(column.ops);
    const suffixes = ranks(column.suffixes);
    key = (row) => (ops[column.opIds[row] ?? 0] ?? 0) * suffixes.length + (suffixes[column.suffixIds[row] ?? 0] ?? 0);
  }
  rows.forEach((row, i) => {
    keys[i] = key(row);
  });
  return keys;
}

/** What is no number comes last either way; rows that are equal keep their order. */
function sorted(rows: Uint32Array, column: Column, descending: boolean): Uint32Array {
  const keys = sortKeys(rows, column);
  const order = new Uint32Array(rows.length).map((_, i) => i);
  const sign = descending ? -1 : 1;
  order.sort((a, b) => {
    const left = keys[a] ?? NaN;
    const right = keys[b] ?? NaN;
    if (left === right || (Number.isNaN(left) && Number.isNaN(right))) {
      return a - b;
    }
    if (Number.isNaN(left) || Number.isNaN(right)) {
      return Number.isNaN(left) ? 1 : -1;
    }
    return left < right ? -sign : sign;
  });
  return order.map((i) => rows[i] ?? 0);
}

/** The row that has this place in the whole table; null if the page does not carry it. */
export function rowAt(table: Table, place: number): number | null {
  let low = 0;
  let high = table.rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((table.places[middle] ?? 0) < place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return table.places[low] === place && low < table.rows ? low : null;
}

// As the program's own CSV (csrc/report/csv.cpp): what a spreadsheet would run has a ' in front, also behind ';'.
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const FORMULA_BEHIND = /;(?=[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20])/g;
const NUMBER = /^\s*-?(\d+(\.\d*)?([eE][+-]?\d+)?|inf)%?$/;

function csvField(column: Column, row: number): string {
  let field = column.text(row);
  if (!NUMBER.test(field)) {
    field = (FORMULA.test(field) ? `'${field}` : field).replace(FORMULA_BEHIND, ";'");
  }
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

export function asCsv(columns: Column[], rows: Uint32Array): string {
  const lines = [columns.map((column) => column.title).join(",")];
  for (const row of rows) {
    lines.push(columns.map((column) => csvField(column, row)).join(","));
  }
  return `${lines.join("\n")}\n`;
}
