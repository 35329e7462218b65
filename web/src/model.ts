// SPDX-License-Identifier: Apache-2.0
// What the page tells besides its rows: the description that the program writes (csrc/report/page.cpp, view_page.cpp).

export type Counts = Record<string, number>;

export interface Spot {
  grade: string;
  where: string;
  call: string;
  code: string;
  section: string;
  path: string;
  finding: string;
  statistic: string;
  target: number | string | null;
  golden: number | string | null;
  distance: number | string;
  noise: number;
  ratio: number | string;
}

interface Verdict {
  sentence: string;
  riders: string[];
  first: Spot | null;
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
  largest_relative_error: number | string;
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
  signs?: Sign[];
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
  across_ranks: { step: number | null; label: string; sentence: string }[];
  tables: TableInfo[];
}

export function readDescription(): Description {
  const text = document.getElementById("description")?.textContent;
  if (!text) {
    throw new Error("the page carries no data");
  }
  return JSON.parse(text) as Description;
}

/** Numbers of the description; what JSON has no number for stands as its name. */
export function real(value: number | string | null | undefined): number {
  if (typeof value === "number") {
    return value;
  }
  const names: Record<string, number> = { inf: Infinity, pos_inf: Infinity, "-inf": -Infinity, neg_inf: -Infinity };
  return names[value ?? ""] ?? NaN;
}

export function pairTitle(pair: Pair): string {
  return [pair.step === null ? "" : `step ${pair.step}`, pair.label].filter((part) => part !== "").join(" ");
}
