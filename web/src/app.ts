// SPDX-License-Identifier: Apache-2.0
// Puts the parts of the page together and tells them of changes.
import { ChartView } from "./chart_view";
import { readTable, type Table } from "./data";
import { detailView } from "./detail_view";
import { button, copyText, element, put } from "./dom";
import { FilterView, shownColumns } from "./filter_view";
import { type Description, pairTitle } from "./model";
import { ModuleTree } from "./modules";
import { overviewView } from "./overview_view";
import { chosenRows, rowAt } from "./rows";
import { type State, Store } from "./state";
import { TableView } from "./table_view";
import { grouped, language, setLanguage, text } from "./texts";
import { themeChoice } from "./theme";
import { TreeView } from "./tree_view";
import { verdictView } from "./verdict_view";

interface Shown {
  table: Table;
  tree: ModuleTree;
  rows: Uint32Array;
}

export class App {
  private readonly store = new Store();
  private shown: Shown | null = null;
  private chart: ChartView | null = null;
  private drawing = 0; // counts, so that what was overtaken stops
  private print: (on: boolean) => void = () => undefined;

  constructor(
    private readonly root: HTMLElement,
    private readonly description: Description,
  ) {
    const again = (): void => {
      void this.draw();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    window.addEventListener("beforeprint", () => { this.print(true); });
    window.addEventListener("afterprint", () => { this.print(false); });
  }

  /** All of it anew: at first, and when the pair, the language or the colours change. */
  async draw(): Promise<void> {
    const mine = ++this.drawing;
    const { store, description } = this;
    document.documentElement.lang = language() === "zh" ? "zh-CN" : "en";
    const title = text(description.kind === "view" ? "view_title" : "compare_title");
    document.title = `msprobe: ${title}`;
    store.forget();
    this.chart?.close();
    this.chart = null;
    if (store.state.pair >= description.summary.pairs.length) {
      store.state = { ...store.state, pair: 0 };
    }
    const { pair } = store.state;
    const rest = element("div", { class: "rest" }, element("p", { class: "empty" }, text("loading")));
    put(this.root, this.header(title), verdictView(description, store, (place) => { store.set({ row: place }); }), overviewView(description, store), rest);
    store.listen((_, changed) => {
      if (changed.has("pair")) {
        this.shown = null;
        void this.draw();
      }
    });
    // The head is drawn before the rows are unpacked.
    await new Promise(requestAnimationFrame);
    const packed = document.getElementById(`table${pair}`)?.textContent ?? "";
    if (packed === "") {
      put(rest, element("p", { class: "empty" }, text("nothing")));
      this.root.removeAttribute("aria-busy");
      return;
    }
    this.shown ??= await this.unpack(packed);
    if (mine === this.drawing) {
      this.drawRows(rest, this.shown);
      this.root.removeAttribute("aria-busy");
    }
  }

  private async unpack(packed: string): Promise<Shown> {
    const table = await readTable(packed);
    return { table, tree: new ModuleTree(table), rows: new Uint32Array(0) };
  }

  private header(title: string): HTMLElement {
    const { store, description } = this;
    const copied = element("span", { role: "status" });
    const pairs = description.summary.pairs;
    const pair = pairs[store.state.pair];
    return element(
      "header",
      {},
      element("h1", {}, "msprobe"),
      element("span", { class: "title" }, title, pair && pairs.length > 1 ? ` · ${pairTitle(pair)}` : ""),
      element("span", { class: "space" }),
      button(text("copy_link"), () => {
        void copyText(location.href).then(() => { put(copied, text("copied")); });
      }, { class: "noprint" }),
      copied,
      button(text("language"), () => {
        setLanguage(language() === "zh" ? "en" : "zh");
        void this.draw();
      }, { class: "noprint language" }),
      themeChoice(() => { void this.draw(); }),
    );
  }

  private drawRows(rest: HTMLElement, shown: Shown): void {
    const { store } = this;
    const { table, tree } = shown;
    const select = (row: number): void => {
      store.set({ row: table.places[row] ?? 0 });
    };
    shown.rows = chosenRows(table, tree, store.state);
    const title = text(this.description.kind === "view" ? "chart_view" : "chart_compare");
    const chart = new ChartView(table, title, select);
    this.chart = chart;
    const modules = new TreeView(tree, store);
    const grid = new TableView(table, store, select);
    const filters = new FilterView(table, store, () => shown.rows);
    const detail = element("div", { class: "detail-place" });
    const chosen = (): number | null => (store.state.row === null ? null : rowAt(table, store.state.row));
    const drawDetail = (): void => {
      put(detail, detailView(table, chosen(), () => { store.set({ row: null }); }));
    };
    put(
      rest,
      chart.root,
      detail,
      element(
        "div",
        { class: "split" },
        modules.root,
        element("section", { class: "table", "aria-label": text("table") }, element("h2", {}, text("table"), element("small", {}, ` ${text("rows", grouped(table.rows))}`)), filters.root, grid.root),
      ),
    );
    this.print = (on) => { grid.print(on); };
    grid.show(shown.rows, shownColumns(table, store.state.columns));
    drawDetail();
    this.reveal(grid, chart, chosen());
    const listen = (state: State, changed: Set<keyof State>): void => {
      const has = (...keys: (keyof State)[]): boolean => keys.some((key) => changed.has(key));
      if (has("pair")) {
        return;
      }
      if (has("text", "results", "dtype", "module", "sort", "descending")) {
        shown.rows = chosenRows(table, tree, state);
      }
      if (has("text", "results", "dtype", "module", "sort", "descending", "columns")) {
        grid.show(shown.rows, shownColumns(table, state.columns));
        filters.update();
      }
      if (has("module")) {
        modules.draw();
      }
      if (has("row")) {
        drawDetail();
        this.reveal(grid, chart, chosen());
      }
    };
    store.listen(listen);
  }

  private reveal(grid: TableView, chart: ChartView, row: number | null): void {
    chart.choose(row);
    if (row !== null) {
      grid.reveal(row);
    }
  }
}
