// SPDX-License-Identifier: Apache-2.0
// What stands above the table: filters, the choice of columns, copying.
import { type Column, TextColumn } from "./columns";
import { RESULTS, type Result, type Table } from "./data";
import { button, copyText, element, put, settled } from "./dom";
import { asCsv } from "./rows";
import type { Store } from "./state";
import { grouped, text } from "./texts";

// A clipboard with more is of no use to a spreadsheet, and takes the browser seconds.
const COPIED_AT_MOST = 100_000;

const USUAL = [
  "target_name", "result", "norm_error", "max_error", "min_error", "mean_error",
  "cosine", "max_abs", "max_rel", "worst_ulp", "target_dtype", "target_shape",
  "target_norm", "golden_norm", "target_max", "golden_max", "message",
];
const USUAL_OF_VIEW = [
  "target_name", "result", "target_dtype", "target_shape", "target_max", "target_min", "target_mean", "target_norm", "message",
];

export function shownColumns(table: Table, wanted: string[]): Column[] {
  const view = !table.byKey.has("golden_name");
  const keys = wanted.length > 0 ? wanted : view ? USUAL_OF_VIEW : USUAL;
  if (wanted.length === 0 && table.byKey.has("target_md5")) {
    return [...shownColumns(table, USUAL), ...table.columns.filter((column) => column.key.endsWith("_md5"))];
  }
  return keys.map((key) => table.byKey.get(key)).filter((column) => column !== undefined);
}

export class FilterView {
  readonly root: HTMLElement;
  private readonly count = element("span", { class: "shown", role: "status" });
  private readonly said = element("span", { role: "status" });
  private readonly search = element("input", { type: "search", placeholder: text("filter_text"), "aria-label": text("filter_text") });
  private readonly dtype = element("select", { "aria-label": text("filter_dtype") });
  private readonly boxes = new Map<Result, HTMLInputElement>();
  private readonly module = element("span", { class: "chosen-module" });

  constructor(
    private readonly table: Table,
    private readonly store: Store,
    private readonly rows: () => Uint32Array,
  ) {
    this.search.addEventListener("input", settled(150, () => {
      store.set({ text: this.search.value.trim() });
    }));
    this.fillTypes();
    const results = element("fieldset", { class: "results" });
    for (const result of RESULTS) {
      const box = element("input", { type: "checkbox" });
      box.addEventListener("change", () => {
        const on = RESULTS.filter((each) => this.boxes.get(each)?.checked);
        store.set({ results: on.length === RESULTS.length ? [] : on });
      });
      this.boxes.set(result, box);
      results.append(element("label", {}, box, element("span", { class: `mark ${result}`, "aria-hidden": "true" }), text(result)));
    }
    this.root = element(
      "div",
      { class: "filters noprint" },
      this.search,
      results,
      this.dtype,
      this.module,
      button(text("clear"), () => {
        store.set({ text: "", results: [], dtype: "", module: "" });
      }),
      this.columnChoice(),
      button(text("copy_csv"), () => {
        void this.copy();
      }),
      this.count,
      this.said,
    );
    this.update();
  }

  private fillTypes(): void {
    const types = new Set<string>();
    for (const key of ["target_dtype", "golden_dtype"]) {
      const column = this.table.byKey.get(key);
      if (column instanceof TextColumn) {
        column.texts.forEach((each) => types.add(each));
      }
    }
    types.delete("");
    types.delete("N/A");
    put(
      this.dtype,
      element("option", { value: "" }, `${text("filter_dtype")}: ${text("any")}`),
      ...[...types].sort().map((each) => element("option", { value: each }, each)),
    );
    this.dtype.addEventListener("change", () => {
      this.store.set({ dtype: this.dtype.value });
    });
  }

  private columnChoice(): HTMLElement {
    const list = element("div", { class: "choice" });
    const on = new Set(shownColumns(this.table, this.store.state.columns).map((column) => column.key));
    for (const column of this.table.columns) {
      const box = element("input", { type: "checkbox" });
      box.checked = on.has(column.key);
      box.addEventListener("change", () => {
        if (box.checked) {
          on.add(column.key);
        } else {
          on.delete(column.key);
        }
        this.store.set({ columns: this.table.columns.map((each) => each.key).filter((key) => on.has(key)) });
      });
      list.append(element("label", {}, box, column.title));
    }
    return element("details", { class: "columns" }, element("summary", {}, text("columns")), list);
  }

  private async copy(): Promise<void> {
    const rows = this.rows();
    await copyText(asCsv(shownColumns(this.table, this.store.state.columns), rows.subarray(0, COPIED_AT_MOST)));
    put(this.said, rows.length > COPIED_AT_MOST ? text("copied_part", grouped(COPIED_AT_MOST)) : text("copied_rows", grouped(rows.length)));
  }

  /** After a change of the state or of the rows. */
  update(): void {
    const { state } = this.store;
    if (document.activeElement !== this.search) {
      this.search.value = state.text;
    }
    this.dtype.value = state.dtype;
    for (const [result, box] of this.boxes) {
      box.checked = state.results.length === 0 || state.results.includes(result);
    }
    put(this.module, state.module === "" ? "" : `${text("tree")}: ${state.module}`);
    put(this.count, text("shown", grouped(this.rows().length), grouped(this.table.rows)));
    put(this.said, "");
  }
}
