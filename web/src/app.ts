// SPDX-License-Identifier: Apache-2.0
// Puts the parts of the page together and tells them of changes.
import { ChartView } from "./chart_view";
import { setTitlesOfView } from "./column_texts";
import { CountsView } from "./counts_view";
import { readTable, RESULTS, type Table } from "./data";
import { detailView } from "./detail_view";
import { button, copyText, element, put } from "./dom";
import { FilterView, shownColumns } from "./filter_view";
import { growthView } from "./growth_view";
import { levelsOf, type Measure, MEASURES, measuresOf, usualMeasure } from "./levels";
import { type Description, pairTitle, rowOfSpot } from "./model";
import { ModuleTree } from "./modules";
import { rowOfName } from "./names";
import { overviewView } from "./overview_view";
import { chosenRows, rowAt } from "./rows";
import { type Group, groupsOf } from "./series";
import { type State, Store } from "./state";
import { TableView } from "./table_view";
import { grouped, language, setLanguage, text } from "./texts";
import { themeChoice } from "./theme";
import { TreeView } from "./tree_view";
import { tellingDump, tellingPair, verdictView } from "./verdict_view";

const READY = "msprobe-ready"; // a mark of the time, for who measures how long a page takes to open

interface Shown {
  table: Table;
  measure: Measure;
  levels: Uint8Array;
  tree: ModuleTree;
  rows: Uint32Array;
}

export class App {
  private readonly store: Store;
  private table: Table | null = null; // of the pair that is shown
  private chart: ChartView | null = null;
  private counts: CountsView | null = null;
  private drawing = 0; // counts, so that what was overtaken stops
  private print: (on: boolean) => void = () => undefined;

  constructor(
    private readonly root: HTMLElement,
    private readonly description: Description,
  ) {
    const { pairs } = description.summary;
    this.store = new Store(description.kind === "view" ? tellingDump(description) : tellingPair(pairs));
    setTitlesOfView(description.kind === "view");
    const again = (): void => {
      void this.draw();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    const onPaper = (on: boolean): void => {
      // Paper is light whatever the screen is.
      document.documentElement.toggleAttribute("data-paper", on);
      this.print(on);
      this.chart?.redraw();
    };
    window.addEventListener("beforeprint", () => { onPaper(true); });
    window.addEventListener("afterprint", () => { onPaper(false); });
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
    this.print = () => undefined;
    const { pairs } = description.summary;
    if (store.state.pair >= pairs.length) {
      store.state = { ...store.state, pair: 0 };
    }
    const { pair: at } = store.state;
    const go = (pair: number, name: string): void => {
      store.set({ pair, name, row: null, module: "", text: "", results: [], dtype: "" });
    };
    const pair = pairs[at];
    this.counts = pair ? new CountsView(pair, description.tables[at], store) : null;
    this.counts?.draw(this.measure(), null);
    // All ranks and steps, side by side where there is room.
    const glance = element("div", { class: "glance" }, overviewView(description, store), description.kind === "compare" ? growthView(description, go) : null);
    const rest = element("div", { class: "rest" }, element("p", { class: "empty" }, text("loading")), glance);
    put(this.root, this.header(title), verdictView(description, store, this.counts?.root ?? element("div"), go), rest);
    store.listen((_, changed) => {
      if (changed.has("pair")) {
        this.table = null;
        void this.draw();
      }
    });
    // The head is drawn before the rows are unpacked.
    await new Promise(requestAnimationFrame);
    const packed = document.getElementById(`table${at}`)?.textContent ?? "";
    if (packed === "") {
      put(rest, element("p", { class: "empty" }, text((description.tables[at]?.of_all ?? 0) > 0 ? "no_rows" : "nothing")), glance);
      this.root.removeAttribute("aria-busy");
      return;
    }
    this.table ??= await readTable(packed);
    if (mine === this.drawing) {
      this.drawRows(rest, glance, this.table);
      this.root.removeAttribute("aria-busy");
      // Behind the frame that shows the rows: from here on the page answers.
      requestAnimationFrame(() => { setTimeout(() => performance.mark(READY)); });
    }
  }

  /** What colours tell of the pair that is shown: as chosen, if it has that measure. */
  private measure(): Measure {
    const { by, pair } = this.store.state;
    const table = this.description.tables[pair];
    const wanted = MEASURES.find((each) => each === by);
    return wanted && measuresOf(table).includes(wanted) ? wanted : usualMeasure(this.description.summary.pairs[pair], table);
  }

  private show(table: Table): Shown {
    const measure = this.measure();
    const info = this.description.tables[this.store.state.pair];
    const levels = info ? levelsOf(table, info, measure) : table.results;
    const tree = new ModuleTree(table, levels);
    return { table, measure, levels, tree, rows: chosenRows(table, tree, levels, this.store.state) };
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

  private drawRows(rest: HTMLElement, glance: HTMLElement, table: Table): void {
    const { store } = this;
    this.chooseNamed(table);
    let shown = this.show(table);
    const select = (row: number): void => {
      store.set({ row: table.places[row] ?? 0 });
    };
    const chartPlace = element("div", {});
    const treePlace = element("div", {});
    let modules = new TreeView(shown.tree, store, shown.measure);
    const grid = new TableView(table, store, select);
    const filters = new FilterView(table, store, () => shown.rows, () => shown.measure);
    const detail = element("div", { class: "detail-place" });
    const chosen = (): number | null => (store.state.row === null ? null : rowAt(table, store.state.row));
    const drawDetail = (): void => {
      put(detail, detailView(table, chosen(), () => { store.set({ row: null }); }));
    };
    const drawCounts = (): void => {
      const counts = RESULTS.map(() => 0);
      shown.levels.forEach((level) => {
        counts[level] = (counts[level] ?? 0) + 1;
      });
      this.counts?.draw(shown.measure, counts);
    };
    const drawChart = (): void => {
      this.chart?.close();
      this.chart = this.makeChart(table, shown.measure, select);
      put(chartPlace, this.chart.root);
      this.chart.choose(chosen());
    };
    const showRows = (): void => {
      grid.show(shown.rows, shownColumns(table, store.state.columns), shown.levels);
      filters.update();
    };
    const reveal = (): void => {
      const row = chosen();
      this.chart?.choose(row);
      if (row !== null) {
        grid.reveal(row);
      }
    };
    put(treePlace, modules.root);
    put(
      rest,
      chartPlace,
      glance,
      element(
        "div",
        { class: "split" },
        treePlace,
        element(
          "section",
          { class: "table", "aria-label": text("table") },
          element("h2", {}, text("table"), element("small", {}, ` ${text("rows", grouped(table.rows))} `, element("span", { class: "noprint" }, text("no_selection")))),
          filters.root,
          grid.root,
        ),
      ),
      detail,
    );
    this.print = (on) => { grid.print(on); };
    drawChart();
    drawCounts();
    showRows();
    if (document.documentElement.hasAttribute("data-paper")) {
      this.print(true); // the printing began while this was being drawn
    }
    drawDetail();
    reveal();
    const listen = (_: State, changed: Set<keyof State>): void => {
      const has = (...keys: (keyof State)[]): boolean => keys.some((key) => changed.has(key));
      if (has("pair")) {
        return;
      }
      if (has("by")) {
        shown = this.show(table);
        modules = new TreeView(shown.tree, store, shown.measure);
        put(treePlace, modules.root);
        drawCounts();
      } else if (has("text", "results", "dtype", "module", "sort", "descending")) {
        shown.rows = chosenRows(table, shown.tree, shown.levels, store.state);
      }
      if (has("by", "chart")) {
        drawChart();
      }
      if (has("by", "text", "results", "dtype", "module", "sort", "descending", "columns")) {
        showRows();
      }
      if (has("module")) {
        modules.draw();
      }
      if (has("name")) {
        this.chooseNamed(table);
      }
      if (has("row")) {
        drawDetail();
        reveal();
      }
    };
    store.listen(listen);
  }

  /** A row that is asked for by its name becomes the chosen one. */
  private chooseNamed(table: Table): void {
    const { name } = this.store.state;
    if (name !== "") {
      const row = rowOfName(table, name);
      this.store.set(row === null ? { name: "" } : { name: "", row: table.places[row] ?? 0 });
    }
  }

  private makeChart(table: Table, measure: Measure, select: (row: number) => void): ChartView {
    const { store } = this;
    const info = this.description.tables[store.state.pair];
    const groups = info ? groupsOf(table, info) : [];
    const usual: Group["key"] | "" = measure === "distance" ? "distance" : "";
    const group = groups.find((each) => each.key === store.state.chart) ?? groups.find((each) => each.key === usual) ?? groups[0] ?? null;
    const choice = element("select", { "aria-label": text("chart_draws") });
    for (const each of groups) {
      choice.append(element("option", { value: each.key }, text(each.title)));
    }
    choice.value = group?.key ?? "";
    choice.addEventListener("change", () => {
      store.set({ chart: choice.value });
    });
    const first = info?.verdict?.first;
    return new ChartView(table, { group, from: first ? rowOfName(table, rowOfSpot(first)) : null, select }, ...(groups.length > 1 ? [choice] : []));
  }
}
