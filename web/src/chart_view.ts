// SPDX-License-Identifier: Apache-2.0
// The chart over the order of execution, by uPlot: a point is the worst of the rows that fall on it.
import uPlot from "uplot";
import type { Table } from "./data";
import { button, element, put } from "./dom";
import { shortNumber } from "./columns";
import { type Buckets, bucketed, marksOf, NOT_FINITE, type Series, seriesOf, UNMATCHED } from "./series";
import { grouped, text } from "./texts";
import { nameOf } from "./names";

const HEIGHT = 300;
// Okabe and Ito's colours, which people of all kinds of sight tell apart; shapes tell them apart as well.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];
const MARK_COLOURS = { notFinite: "#d55e00", unmatched: "#808080" };
const LEAST_ROWS = 10; // that a zoom leaves

/** At most a dozen lines. */
export function powersOfTen(low: number, high: number): number[] {
  const [first, last] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const step = Math.max(1, Math.ceil((last - first) / 10));
  const powers: number[] = [];
  for (let power = first; power <= last; power += step) {
    powers.push(10 ** power);
  }
  return powers;
}

export class ChartView {
  readonly root: HTMLElement;
  private readonly place = element("div", { class: "plot" });
  private readonly told = element("output", { class: "told" });
  private readonly series: Series[];
  private readonly marks: Uint8Array;
  private plot: uPlot | null = null;
  private buckets: Buckets = { x: [], values: [], worst: [], marks: [] };
  private from = 0;
  private until: number;
  private selected: number | null = null;

  constructor(
    private readonly table: Table,
    title: string,
    private readonly select: (row: number) => void,
  ) {
    this.series = seriesOf(table);
    this.marks = marksOf(table);
    this.until = table.rows;
    const zoom = (label: string, sign: string, act: () => void): HTMLElement => button(sign, act, { title: label, "aria-label": label });
    this.root = element(
      "section",
      { class: "chart", "aria-label": title },
      element("h2", {}, title),
      this.series.length === 0
        ? element("p", {}, text("chart_none"))
        : element(
            "div",
            { class: "tools noprint" },
            zoom(text("zoom_left"), "←", () => { this.move(-0.5); }),
            zoom(text("zoom_in"), "+", () => { this.scale(0.5); }),
            zoom(text("zoom_out"), "−", () => { this.scale(2); }),
            zoom(text("zoom_right"), "→", () => { this.move(0.5); }),
            zoom(text("zoom_all"), text("zoom_all"), () => { this.zoom(0, table.rows); }),
            element("span", { class: "hint" }, text("chart_hint")),
          ),
      this.place,
      this.told,
      this.legend(),
    );
    if (this.series.length > 0) {
      new ResizeObserver(() => { this.resize(); }).observe(this.place);
    }
  }

  private legend(): HTMLElement {
    const item = (shape: string, label: string): HTMLElement =>
      element("span", { class: `key ${shape}` }, element("i", { "aria-hidden": "true" }), label);
    return element("p", { class: "legend" }, item("not-finite", text("not_finite")), item("unmatched", text("unmatched")));
  }

  choose(row: number | null): void {
    this.selected = row;
    if (row !== null && (row < this.from || row >= this.until)) {
      const half = Math.floor((this.until - this.from) / 2);
      this.zoom(row - half, row + half);
    }
    this.plot?.redraw(false);
  }

  zoom(from: number, until: number): void {
    const length = Math.min(this.table.rows, Math.max(LEAST_ROWS, until - from));
    this.from = Math.round(Math.min(Math.max(0, from), this.table.rows - length));
    this.until = Math.round(this.from + length);
    this.fill();
  }

  private scale(factor: number): void {
    const middle = (this.from + this.until) / 2;
    const half = ((this.until - this.from) / 2) * factor;
    this.zoom(middle - half, middle + half);
  }

  private move(share: number): void {
    const by = (this.until - this.from) * share;
    this.zoom(this.from + by, this.until + by);
  }

  private resize(): void {
    const width = this.place.clientWidth;
    if (width === 0) {
      return;
    }
    if (this.plot === null) {
      this.plot = this.make(width);
    } else if (this.plot.width !== width) {
      this.plot.setSize({ width, height: HEIGHT });
    }
    this.fill();
  }

  private fill(): void {
    if (this.plot) {
      const most = Math.max(100, Math.floor(this.plot.width / 2));
      this.buckets = bucketed(this.series, this.marks, this.from, this.until, most);
      this.plot.setData([this.buckets.x, ...this.buckets.values]);
    }
  }

  /** Powers of ten around what is drawn. */
  private heights(): [number, number] {
    let low = Infinity;
    let high = 0;
    for (const values of this.buckets.values) {
      for (const value of values) {
        if (value !== null) {
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
    }
    if (high === 0) {
      return [1e-8, 1];
    }
    const power = (value: number, round: (value: number) => number): number => 10 ** Math.max(-300, Math.min(300, round(Math.log10(value))));
    const [bottom, top] = [power(low, Math.floor), power(high, Math.ceil)];
    return bottom < top ? [bottom, top] : [bottom / 10, top * 10];
  }

  private make(width: number): uPlot {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    const line = style.getPropertyValue("--line").trim();
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    const plot = new uPlot(
      {
        width,
        height: HEIGHT,
        scales: { x: { time: false, range: () => [this.from, Math.max(this.from + 1, this.until)] }, y: { distr: 3, range: () => this.heights() } },
        axes: [
          { ...axis, values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? grouped(value) : "")) },
          { ...axis, size: 70, splits: () => powersOfTen(...this.heights()), filter: (_, splits) => splits, values: (_, splits) => splits.map((value) => value.toExponential(0)) },
        ],
        series: [
          { label: "row" },
          ...this.series.map((each, i) => ({
            label: each.label,
            stroke: COLOURS[i] ?? ink,
            paths: () => null,
            // Of points at one place all can be seen.
            points: { show: true, size: Math.max(3, 9 - 2 * i), fill: COLOURS[i] ?? ink },
          })),
        ],
        legend: { live: false },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
        hooks: {
          setSelect: [(u) => {
            if (u.select.width > 3) {
              this.zoom(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
            }
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          }],
          setCursor: [(u) => { this.tell(u.cursor.idx ?? null); }],
          draw: [(u) => { this.drawMarks(u); }],
        },
      },
      [this.buckets.x, ...this.buckets.values],
      this.place,
    );
    this.listen(plot.over);
    return plot;
  }

  private listen(over: HTMLElement): void {
    let pressedAt = 0;
    over.addEventListener("mousedown", (event) => { pressedAt = event.clientX; });
    over.addEventListener("click", (event) => {
      const row = this.buckets.worst[this.plot?.cursor.idx ?? -1];
      if (row !== undefined && Math.abs(event.clientX - pressedAt) < 4) {
        this.select(row);
      }
    });
    over.addEventListener("dblclick", () => { this.zoom(0, this.table.rows); });
  }

  private tell(bucket: number | null): void {
    const row = bucket === null ? undefined : this.buckets.worst[bucket];
    if (row === undefined) {
      put(this.told, "");
      return;
    }
    const numbers = this.series.map((each) => `${each.label} ${shortNumber(each.at(row), 3)}`).join(", ");
    put(this.told, `${grouped(this.table.places[row] ?? 0)}  ${nameOf(this.table, row)}  ${numbers}`);
  }

  private drawMarks(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    this.buckets.marks.forEach((mark, i) => {
      const x = plot.valToPos(this.buckets.x[i] ?? 0, "x", true);
      if ((mark & NOT_FINITE) !== 0) {
        ctx.fillStyle = MARK_COLOURS.notFinite;
        ctx.beginPath();
        ctx.moveTo(x - 5 * ratio, bbox.top + 10 * ratio);
        ctx.lineTo(x + 5 * ratio, bbox.top + 10 * ratio);
        ctx.lineTo(x, bbox.top);
        ctx.fill();
      }
      if ((mark & UNMATCHED) !== 0) {
        ctx.strokeStyle = MARK_COLOURS.unmatched;
        ctx.lineWidth = 1.5 * ratio;
        ctx.beginPath();
        ctx.arc(x, bbox.top + bbox.height - 6 * ratio, 4 * ratio, 0, 2 * Math.PI);
        ctx.stroke();
      }
    });
    if (this.selected !== null && this.selected >= this.from && this.selected < this.until) {
      const x = plot.valToPos(this.selected, "x", true);
      ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
      ctx.lineWidth = ratio;
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  close(): void {
    this.plot?.destroy();
    this.plot = null;
  }
}
