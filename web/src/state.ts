// SPDX-License-Identifier: Apache-2.0
// What is looked at: filter, order, columns, the selected row. It stands in the address, so that a colleague sees the same.
import { RESULTS, type Result } from "./data";

export interface State {
  pair: number;
  row: number | null; // its place in the whole table
  text: string;
  results: Result[]; // empty: all
  dtype: string;
  module: string; // path in the tree, parts with points between
  sort: string; // key of a column; "": the order of execution
  descending: boolean;
  columns: string[]; // empty: the usual ones
}

export const FIRST_STATE: State = {
  pair: 0,
  row: null,
  text: "",
  results: [],
  dtype: "",
  module: "",
  sort: "",
  descending: false,
  columns: [],
};

const list = (text: string | null): string[] => (text ? text.split(",") : []);

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

export function fromFragment(fragment: string): State {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const sort = parts.get("sort") ?? "";
  return {
    pair: wholeNumber(parts.get("pair")) ?? 0,
    row: wholeNumber(parts.get("row")),
    text: parts.get("text") ?? "",
    results: list(parts.get("result")).filter((each): each is Result => (RESULTS as readonly string[]).includes(each)),
    dtype: parts.get("dtype") ?? "",
    module: parts.get("module") ?? "",
    sort: sort.replace(/^-/, ""),
    descending: sort.startsWith("-"),
    columns: list(parts.get("columns")),
  };
}

export function toFragment(state: State): string {
  const parts = new URLSearchParams();
  const put = (name: string, value: string): void => {
    if (value !== "") {
      parts.set(name, value);
    }
  };
  put("pair", state.pair === 0 ? "" : String(state.pair));
  put("row", state.row === null ? "" : String(state.row));
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

  constructor() {
    this.state = fromFragment(location.hash);
    window.addEventListener("hashchange", () => {
      if (location.hash.replace(/^#/, "") !== toFragment(this.state)) {
        this.set(fromFragment(location.hash), false);
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
      history.replaceState(null, "", `#${toFragment(this.state)}`);
    }
    for (const listener of this.listeners) {
      listener(this.state, changed);
    }
  }
}
