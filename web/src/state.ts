// SPDX-License-Identifier: Apache-2.0
// What is looked at: filter, order, columns, the selected row. It stands in the address, so that a colleague sees the same.
import { RESULTS, type Result } from "./data";
import { MEASURES } from "./levels";

export interface State {
  pair: number;
  row: number | null; // its place in the whole table
  name: string; // of a row to choose once the rows are there; then it is chosen, and this is empty again
  by: string; // measure of colours; "": the usual one
  chart: string; // what the chart draws; "": the usual
  text: string;
  results: Result[]; // empty: all
  dtype: string;
  module: string; // path in the tree, parts with points between
  sort: string; // key of a column; "": the order of execution
  descending: boolean;
  columns: string[]; // empty: the usual ones
}

const list = (text: string | null): string[] => (text ? text.split(",") : []);

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** `usualPair` is the one that is shown where the address names none. */
export function fromFragment(fragment: string, usualPair: number): State {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const sort = parts.get("sort") ?? "";
  return {
    pair: wholeNumber(parts.get("pair")) ?? usualPair,
    row: wholeNumber(parts.get("row")),
    name: parts.get("name") ?? "",
    by: (MEASURES as readonly string[]).includes(parts.get("by") ?? "") ? (parts.get("by") ?? "") : "",
    chart: parts.get("chart") ?? "",
    text: parts.get("text") ?? "",
    results: list(parts.get("result")).filter((each): each is Result => (RESULTS as readonly string[]).includes(each)),
    dtype: parts.get("dtype") ?? "",
    module: parts.get("module") ?? "",
    sort: sort.replace(/^-/, ""),
    descending: sort.startsWith("-"),
    columns: list(parts.get("columns")),
  };
}

export function toFragment(state: State, usualPair: number): string {
  const parts = new URLSearchParams();
  const put = (name: string, value: string): void => {
    if (value !== "") {
      parts.set(name, value);
    }
  };
  put("pair", state.pair === usualPair ? "" : String(state.pair));
  put("row", state.row === null ? "" : String(state.row));
  put("name", state.name);
  put("by", state.by);
  put("chart", state.chart);
  put("text", state.text);
  put("result", state.results.join(","));
  put("dtype", state.dtype);
  put("module", state.module);
  put("sort", state.sort === "" ? "" : (state.descending ? "-" : "") + state.sort);
  put("columns", state.columns.join(","));
  return parts.toString();
}

type Listener = (state: State, changed: Set<keyof State>) => void;

/** Holds the state; whoever changes it and whoever shows it know only this. */
export class Store {
  private listeners: Listener[] = [];
  state: State;

  constructor(private readonly usualPair: number) {
    this.state = fromFragment(location.hash, usualPair);
    window.addEventListener("hashchange", () => {
      if (location.hash.replace(/^#/, "") !== toFragment(this.state, usualPair)) {
        this.set(fromFragment(location.hash, usualPair), false);
      }
    });
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  forget(): void {
    this.listeners = [];
  }

  set(change: Partial<State>, write = true): void {
    const before = this.state;
    this.state = { ...before, ...change };
    const keys = Object.keys(this.state) as (keyof State)[];
    const changed = new Set(keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(this.state[key])));
    if (changed.size === 0) {
      return;
    }
    if (write) {
      // Not an entry of the history a keystroke: Back leaves the page.
      history.replaceState(null, "", `#${toFragment(this.state, this.usualPair)}`);
    }
    for (const listener of this.listeners) {
      listener(this.state, changed);
    }
  }
}
