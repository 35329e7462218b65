// SPDX-License-Identifier: Apache-2.0
// What the page tells besides its rows: the description that the program writes (csrc/report/page.cpp, view_page.cpp).
import { text } from "./texts";

export type Counts = Record<string, number>;
type Real = number | string; // what JSON has no number for stands as its name

/** A difference that noise does not explain. Words and keys are those of csrc/compare/divergence_words.h. */
export interface Spot {
  grade: string;
  where: string;
  call: string;
  code: string | null;
  section: string;
  path: string | null;
  finding: string;
  statistic: string;
  target: Real | null;
  golden: Real | null;
  target_dtype: string | null;
  target_shape: string | null;
  golden_shape: string | null;
  distance: Real;
  noise: Real;
  ratio: Real;
  may_have_started_earlier: boolean;
  inputs_fine_by_statistics_alone: boolean;
  calls_unmatched_before: number;
  operator: { call: string; clear: boolean; by_input: boolean; distance: Real } | null;
  operators_only_in_target: string[];
  operators_only_in_golden: string[];
  around: string[];
  before: Link[];
  after: Link[];
}

export interface Link {
  call: string;
  distance: Real | null;
}

interface Walk {
  first_suspect: Spot | null;
  first_fault: Spot | null;
  hints: Spot[];
  noise_end: Real;
  saturated_at: string | null;
}

export interface Verdict {
  first: Spot | null;
  by_statistics: Walk;
  by_elements: Walk | null;
  parameters_judged: number;
  parameters_off: number;
  parameters_not_comparable: number;
  target_type: string;
  golden_type: string;
  unit: number;
  calls: number;
  tensors_judged: number;
  calls_unmatched: number;
  discrete_choices: number;
  first_discrete_choice: string | null;
  ordered: boolean;
  backward: boolean;
  through_collective: boolean;
}

export interface Across {
  step: number | null;
  label: string;
  sentence: string;
  any_collective: boolean;
  found: {
    first_ranks: string[];
    last_shared_collective: string | null;
    ranks: { name: string; call: string | null; collectives_before: number; received: boolean }[];
  };
}

/** A sign that `msprobe view` found in one dump. */
export interface Sign {
  kind: "not_finite" | "dead" | "mostly_zero" | "constant" | "saturated" | "limit";
  name: string;
  place: number;
  from_inputs: boolean; // an input of the same call has the sign already
}

export interface Pair {
  step: number | null;
  label: string;
  target: string;
  golden: string;
  mode: string;
  counts: Counts;
  largest_relative_error: Real;
  divergence: { grade: string; call: string; sentence: string; riders: string[] } | null;
  files: string[];
  warnings: string[];
  error: string;
}

export interface TableInfo {
  rows: number;
  of_all: number;
  times: string[];
  dtypes: string[];
  verdict: Verdict | null;
  chain: string[];
  largest_at?: string; // of a comparison: the row of the largest relative error
  dtype_alone?: number; // errors for nothing but the dtypes
  first_error?: { place: number; name: string } | null;
  signs?: Sign[]; // of a view
  sign_counts?: Counts;
}

export interface Description {
  kind: "compare" | "view";
  made: string;
  limit: number;
  summary: {
    counts: Counts;
    pairs: Pair[];
    unpaired: [side: string, path: string, reason: string][];
    first_diverging_step: number | null;
    files: string[];
    seconds: number;
  };
  across_ranks: Across[];
  tables: TableInfo[];
}

export function readDescription(): Description {
  const found = document.getElementById("description")?.textContent;
  if (!found) {
    throw new Error("the page carries no data");
  }
  return JSON.parse(found) as Description;
}

/** Numbers of the description; what JSON has no number for stands as its name. */
export function real(value: Real | null | undefined): number {
  if (typeof value === "number") {
    return value;
  }
  const names = new Map([["inf", Infinity], ["pos_inf", Infinity], ["-inf", -Infinity], ["neg_inf", -Infinity]]);
  return names.get(value ?? "") ?? NaN;
}

export function pairTitle(pair: Pair): string {
  return [pair.step === null ? "" : `${text("step")} ${pair.step}`, pair.label].filter((part) => part !== "").join(" ");
}

/** The row in which a spot is seen. */
export function rowOfSpot(spot: Spot): string {
  const section = spot.section === "parameter" ? "parameters" : spot.section;
  return `${spot.call}.${section}${spot.path ? `.${spot.path}` : ""}`;
}
