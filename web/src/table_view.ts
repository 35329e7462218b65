// SPDX-License-Identifier: Apache-2.0
// The table of rows: only what is in sight exists, so that its length does not matter.
import type { Column } from "./columns";
import { RESULTS, type Table } from "./data";
import { columnHint, columnTitle } from "./column_texts";
import { element, put } from "./dom";
import type { Store } from "./state";
import { grouped, text } from "./texts";

const ROW_HEIGHT = 24;
// Firefox ends elements at some 17 million pixels; beyond this the scroll bar's steps are more than a row.
const TALLEST = 12_000_000;
const BEYOND = 6; // rows that are made above and below what is in sight
const PRINTED = 200;

const WIDTHS: Record<string, number> = {
  target_name: 460,
  golden_name: 460,
  result: 110,
  message: 420,
  stack: 420,
  data_name: 420,
  target_shape: 150,
  golden_shape: 150,
  target_dtype: 130,
  golden_dtype: 130,
};

export class TableView {
  readonly root: HTMLElement;
  private readonly body = element("div", { class: "rows", role: "rowgroup" });
  private readonly layer = element("div", { class: "layer", role: "presentation" });
  private readonly head = element("div", { class: "head", role: "row" });
  private readonly scroller: HTMLElement;
  private readonly paper = element("p", { class: "onpaper" });
  private levels: Uint8Array;
  private rows = new Uint32Array(0);
  private columns: Column[] = [];
  private printing = false;
  private frame = 0;

  constructor(
    private readonly table: Table,
    private readonly store: Store,
    private readonly select: (row: number) => void,
  ) {
    this.levels = table.results;
    this.body.append(this.layer);
    this.scroller = element("div", { class: "grid", role: "grid", tabindex: 0, "aria-label": text("table") }, this.head, this.body);
    this.root = element("div", {}, this.paper, this.scroller);
    this.scroller.addEventListener("scroll", () => {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => {
        this.draw();
      });
    });
    this.scroller.addEventListener("keydown", (event) => {
      this.key(event);
    });
    new ResizeObserver(() => {
      this.draw();
    }).observe(this.scroller);
  }

  /** `levels` mark the column of distances, unless they are the results themselves. */
  show(rows: Uint32Array, columns: Column[], levels: Uint8Array): void {
    this.levels = levels;
    if (rows !== this.rows) {
      this.scroller.scrollTop = 0; // other rows, or another order
    }
    this.rows = rows as Uint32Array<ArrayBuffer>;
    this.columns = columns;
    const widths = columns.map((column) => WIDTHS[column.key] ?? (column.numeric ? 150 : 140));
    this.scroller.style.setProperty("--columns", widths.map((width) => `${width}px`).join(" "));
    this.scroller.style.setProperty("--width", `${widths.reduce((sum, width) => sum + width, 0)}px`);
    this.scroller.setAttribute("aria-rowcount", String(rows.length + 1));
    this.drawHead();
    this.body.style.height = `${this.height()}px`;
    this.draw();
  }

  /** For paper: the first rows, without a scroll bar, and how many were left out. */
  print(on: boolean): void {
    this.printing = on;
    const left = this.rows.length - PRINTED;
    put(this.paper, on ? `${this.filtered()} ${left > 0 ? text("printed_part", grouped(PRINTED), grouped(this.rows.length), grouped(left)) : ""}` : "");
    this.body.style.height = on ? "auto" : `${this.height()}px`;
    this.draw();
  }

  private filtered(): string {
    const { text: name, results, dtype, module } = this.store.state;
    const filters = [name, results.map((result) => text(result)).join(", "), dtype, module].filter((each) => each !== "");
    return filters.length > 0 ? text("printed_filter", filters.join("; ")) : "";
  }

  /** Brings a row into sight. */
  reveal(row: number): void {
    const at = this.rows.indexOf(row);
    if (at < 0) {
      return;
    }
    const first = this.firstRow();
    if (at < first + 1 || at >= first + this.inSight() - 1) {
      const wanted = Math.max(0, at - Math.floor(this.inSight() / 2));
      const whole = this.rows.length * ROW_HEIGHT;
      const room = Math.max(1, this.height() - this.viewHeight());
      this.scroller.scrollTop =
        whole <= TALLEST ? wanted * ROW_HEIGHT : (wanted / Math.max(1, this.rows.length - this.inSight())) * room;
    }
    this.draw();
  }

  private height(): number {
    return Math.min(this.rows.length * ROW_HEIGHT, TALLEST);
  }
  private viewHeight(): number {
    return Math.max(ROW_HEIGHT, this.scroller.clientHeight - this.head.offsetHeight);
  }
  private inSight(): number {
    return Math.max(1, Math.floor(this.viewHeight() / ROW_HEIGHT));
  }

  private firstRow(): number {
    const whole = this.rows.length * ROW_HEIGHT;
    if (whole <= TALLEST) {
      return Math.floor(this.scroller.scrollTop / ROW_HEIGHT);
    }
    const room = Math.max(1, this.height() - this.viewHeight());
    return Math.round((this.scroller.scrollTop / room) * (this.rows.length - this.inSight()));
  }

  private drawHead(): void {
    const { sort, descending } = this.store.state;
    put(
      this.head,
      ...this.columns.map((column) => {
        const order = column.key !== sort ? "none" : descending ? "descending" : "ascending";
        const made = element(
          "button",
          { type: "button", class: column.numeric ? "numeric" : "" },
          columnTitle(column),
          element("span", { class: "order", "aria-hidden": "true" }, order === "none" ? "" : descending ? " ▼" : " ▲"),
        );
        made.addEventListener("click", () => {
          // Largest first for numbers; then smallest; then the order of execution again.
          const first = column.numeric;
          if (column.key !== sort) {
            this.store.set({ sort: column.key, descending: first });
          } else if (descending === first) {
            this.store.set({ descending: !first });
          } else {
            this.store.set({ sort: "", descending: false });
          }
        });
        return element("div", { role: "columnheader", "aria-sort": order, title: `${columnTitle(column)}: ${columnHint(column)}` }, made);
      }),
    );
  }

  private draw(): void {
    const from = this.printing ? 0 : Math.max(0, this.firstRow() - BEYOND);
    const until = this.printing ? PRINTED : from + this.inSight() + 2 * BEYOND;
    const whole = this.rows.length * ROW_HEIGHT;
    const exact = from * ROW_HEIGHT;
    // With a shortened scroll bar the layer stands where the view is.
    const top = whole <= TALLEST ? exact : this.scroller.scrollTop - Math.min(BEYOND, this.firstRow()) * ROW_HEIGHT;
    this.layer.style.transform = this.printing ? "none" : `translateY(${top}px)`;
    const selected = this.store.state.row;
    const lines: HTMLElement[] = [];
    for (let at = from; at < Math.min(until, this.rows.length); at++) {
      lines.push(this.line(this.rows[at] ?? 0, at, selected));
    }
    put(this.layer, ...(this.rows.length === 0 ? [element("p", { class: "empty" }, text("nothing"))] : lines));
    const drawn = selected !== null && this.layer.querySelector("[aria-selected=true]") !== null;
    if (drawn) {
      this.scroller.setAttribute("aria-activedescendant", `row-${selected}`);
    } else {
      this.scroller.removeAttribute("aria-activedescendant");
    }
  }

  private line(row: number, at: number, selected: number | null): HTMLElement {
    const place = this.table.places[row] ?? 0;
    const result = RESULTS[this.table.results[row] ?? 0] ?? "pass";
    const made = element("div", {
      class: `row ${result}`,
      role: "row",
      id: `row-${place}`,
      "aria-rowindex": at + 2,
      "aria-selected": place === selected ? "true" : "false",
    });
    for (const column of this.columns) {
      const shown = column.shown(row);
      const cell = element("div", { role: "gridcell", class: column.numeric ? "numeric" : "", title: column.text(row) }, shown);
      if (column.key === "result") {
        put(cell, element("span", { class: `mark ${result}`, "aria-hidden": "true" }), text(result));
      } else if (column.key === "distance" && this.levels !== this.table.results && shown !== "") {
        put(cell, element("span", { class: `mark ${RESULTS[this.levels[row] ?? 0] ?? "pass"}`, "aria-hidden": "true" }), shown);
      }
      made.append(cell);
    }
    made.addEventListener("click", () => {
      this.select(row);
    });
    return made;
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: this.inSight(),
      PageUp: -this.inSight(),
      Home: -this.rows.length,
      End: this.rows.length,
    };
    const step = steps[event.key];
    if (step === undefined || event.target !== this.scroller || this.rows.length === 0) {
      return;
    }
    event.preventDefault();
    const place = this.store.state.row;
    const now = place === null ? -1 : this.rows.findIndex((row) => this.table.places[row] === place);
    const next = Math.min(this.rows.length - 1, Math.max(0, now + step));
    this.select(this.rows[next] ?? 0);
  }
}
