// SPDX-License-Identifier: Apache-2.0
// How bad each row is: by its Result, by its Result without the rule on dtypes, or by how far it is off against the noise.
import { NumberColumn, TextColumn } from "./columns";
import { RESULTS, type Result, type Table } from "./data";
import { messagesOf } from "./messages";
import { type Pair, real, type TableInfo } from "./model";
import { text } from "./texts";

export const MEASURES = ["result", "values", "distance"] as const;
export type Measure = (typeof MEASURES)[number];

// Of csrc/compare/divergence_rule.h: a suspect is above 8 times the noise, a fault above 16; a cast moves a weight by at most 4 units.
const SUSPECT = 8;
const FAULT = 16;
const PARAMETER_UNITS = 4;
const DTYPE_RULE = "error: The dtype of NPU and Bench are inconsistent."; // csrc/compare/rules.cpp

const level = (result: Result): number => RESULTS.indexOf(result);

/** Which measures a table has. */
export function measuresOf(table: TableInfo | undefined): Measure[] {
  if (table?.first_error === undefined) {
    return ["result"]; // one dump, or nothing
  }
  const alone = (table.dtype_alone ?? 0) > 0;
  return ["result", ...(alone ? (["values"] as const) : []), ...(table.verdict ? (["distance"] as const) : [])];
}

/** Where the two runs compute in other types, or most errors are there for the dtypes alone, Result tells nothing of the values. */
export function usualMeasure(pair: Pair | undefined, table: TableInfo | undefined): Measure {
  const errors = pair?.counts.error ?? 0;
  const forDtype = table?.dtype_alone ?? 0;
  const otherTypes = table?.dtypes[0] !== table?.dtypes[1];
  if (forDtype === 0 || (forDtype * 2 < errors && !otherTypes)) {
    return "result";
  }
  return table?.verdict ? "distance" : "values";
}

/** The noise that the row's distance is held against: before the first place that parts, else where the walk ended. */
export function noiseOf(table: TableInfo): number {
  const walk = table.verdict?.by_statistics;
  return real((walk?.first_suspect ?? walk?.first_fault)?.noise ?? walk?.noise_end);
}

function withoutDtype(message: string): Result {
  const texts = messagesOf(message).filter((each) => each !== DTYPE_RULE);
  return texts.some((each) => each.startsWith("error")) ? "error" : texts.some((each) => each.startsWith("warning")) ? "warning" : "pass";
}

function byValues(table: Table): Uint8Array {
  const column = table.byKey.get("message");
  if (!(column instanceof TextColumn)) {
    return table.results;
  }
  const unmatched = level("unmatched");
  const levels = column.texts.map((each) => level(withoutDtype(each)));
  return table.results.map((result, row) => (result === unmatched ? result : (levels[column.ids[row] ?? 0] ?? result)));
}

function byDistance(table: Table, info: TableInfo): Uint8Array {
  const column = table.byKey.get("distance");
  if (!(column instanceof NumberColumn)) {
    return table.results;
  }
  const noise = noiseOf(info);
  const cast = (info.verdict?.unit ?? 0) * PARAMETER_UNITS;
  const levels = new Uint8Array(table.rows);
  for (let row = 0; row < table.rows; row++) {
    const distance = column.numbers[row] ?? NaN;
    if (table.results[row] === level("unmatched")) {
      levels[row] = level("unmatched");
    } else if (table.isParameter(row)) {
      levels[row] = distance > cast ? level("error") : level("pass");
    } else if (distance > SUSPECT * noise) {
      levels[row] = distance > FAULT * noise ? level("error") : level("warning");
    }
  }
  // Integers have no distance: one that differs may be a choice that noise turned. Calls that are paired by chance have none either.
  column.words.each((row, word) => {
    if (word === "chance") {
      levels[row] = level("unmatched");
    } else if (word === "differs" && levels[row] === level("pass")) {
      levels[row] = level("warning");
    }
  });
  return levels;
}

export function levelsOf(table: Table, info: TableInfo, measure: Measure): Uint8Array {
  return measure === "result" ? table.results : measure === "values" ? byValues(table) : byDistance(table, info);
}

/** Above this distance a row is a warning, or worse. */
export function distanceLimit(info: TableInfo): number {
  return SUSPECT * noiseOf(info);
}

/** What a level is called: distances have no Result. */
export function levelName(result: Result, measure: Measure): string {
  return measure === "distance" ? text(`distance_${result}`) : text(result);
}
