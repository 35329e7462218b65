// SPDX-License-Identifier: Apache-2.0
// What stands above the table: filters, the choice of columns, copying.
import { type Column, TextColumn } from "./columns";
import { RESULTS, type Result, type Table } from "./data";
import { button, copyText, element, put, settled } from "./dom";
import { columnHint, columnTitle } from "./column_texts";
import { levelName, type Measure } from "./levels";
import { asCsv } from "./rows";
import type { Store } from "./state";
import { grouped, text } from "./texts";

// A clipboard with more is of no use to a spreadsheet, and takes the browser seconds.
const COPIED_AT_MOST = 100_000;

const USUAL = [
  "target_name", "result", "distance", "norm_error", "max_error", "min_error", "mean_error",
  "cosine", "max_abs", "max_rel", "worst_ulp", "target_dtype", "target_shape",
  "target_norm", "golden_norm", "target_max", "golden_max", "target_md5", "golden_md5", "message",
];
const USUAL_OF_VIEW = [
  "target_name", "result", "target_dtype", "target_shape", "target_max", "target_min", "target_mean", "target_norm", "target_md5", "message",
];

/** Columns in the order of `wanted`; without a wish the usual ones that say anything. */
export function shownColumns(table: Table, wanted: string[]): Column[] {
  const usual = table.byKey.has("golden_name") ? USUAL : USUAL_OF_VIEW;
  const found = (wanted.length > 0 ? wanted : usual).map((key) => table.byKey.get(key)).filter((column) => column !== undefined);
  return wanted.length > 0 ? found : found.filter((column) => !(column instanceof TextColumn) || column.texts.some((each) => each !== ""));
}

export class FilterView {
  readonly root: HTMLElement;
  private readonly count = element("span", { class: "shown", role: "status" });
  private readonly said = element("span", { role: "status" });
  private readonly search = element("input", { type: "search", placeholder: text("filter_text"), "aria-label": text("filter_text") });
  private readonly dtype = element("select", { "aria-label": text("filter_dtype") });
  private readonly boxes = new Map<Result, HTMLInputElement>();
  private readonly labels = new Map<Result, HTMLElement>();
  private readonly module = element("span", { class: "chosen-module" });

  constructor(
    private readonly table: Table,
    private readonly store: Store,
    private readonly rows: () => Uint32Array,
    private readonly measure: () => Measure,
  ) {
    this.search.addEventListener("input", settled(150, () => {
      store.set({ text: this.search.value.trim() });
    }));
    this.fillTypes();
    const results = element("fieldset", { class: "results" });
    const on = (): Result[] => [...this.boxes].filter(([, box]) => box.checked).map(([result]) => result);
    for (const result of RESULTS.filter((each) => each !== "unmatched" || table.byKey.has("golden_name"))) {
      const box = element("input", { type: "checkbox" });
      box.addEventListener("change", () => {
        const wanted = on();
        store.set({ results: wanted.length === this.boxes.size ? [] : wanted });
      });
      const label = element("span", {});
      this.boxes.set(result, box);
      this.labels.set(result, label);
      results.append(element("label", {}, box, element("span", { class: `mark ${result}`, "aria-hidden": "true" }), label));
    }
    this.root = element(
      "div",
      { class: "filters noprint" },
      this.search,
      results,
      this.dtype,
      this.module,
      button(text("clear"), () => {
        this.search.value = "";
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
      list.append(element("label", { title: columnHint(column) }, box, columnTitle(column)));
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
      put(this.labels.get(result) ?? box, levelName(result, this.measure()));
    }
    put(this.module, state.module === "" ? "" : `${text("tree")}: ${state.module}`);
    put(this.count, text("shown", grouped(this.rows().length), grouped(this.table.rows)));
    put(this.said, "");
  }
}
