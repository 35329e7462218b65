// SPDX-License-Identifier: Apache-2.0
// The chart over the order of execution, by uPlot: a point is the worst of the rows that fall on it.
import uPlot from "uplot";
import { addShape, colourOf, drawLine, powersAround, powersOfTen, powerText } from "./chart_shapes";
import { shortNumber } from "./columns";
import type { Table } from "./data";
import { button, element, put } from "./dom";
import { nameOf } from "./names";
import { type Buckets, bucketed, DIFFERS, type Group, marksOf, NOT_FINITE, OFF_SCALE, specialsOf, UNMATCHED } from "./series";
import { grouped, text } from "./texts";

const HEIGHT = 300;
const MARKS_HEIGHT = 90; // of a chart that has marks alone
const LEAST_ROWS = 10; // that a zoom leaves
const POINT = 3.2; // half the height of a shape
const TOP_BAND = 18; // pixels for marks above the scale
const ZERO_LANE = 5; // pixels a series for values that are zero, below the scale
const RING_BAND = 14; // pixels for rows without a partner

export interface ChartOptions {
  group: Group | null; // null: marks alone
  from: number | null; // the row at which the runs part
  select: (row: number) => void;
}

export class ChartView {
  readonly root: HTMLElement;
  private readonly place = element("div", { class: "plot" });
  private readonly told = element("output", { class: "told" });
  private readonly group: Group;
  private readonly marks: Uint8Array;
  private readonly positions: Uint32Array; // of each row in the order of execution
  private readonly hidden = new Set<number>();
  private readonly height: number;
  private plot: uPlot | null = null;
  private buckets: Buckets = { x: [], values: [], zeros: [], worst: [], marks: [] };
  private from = 0;
  private until: number;
  private selected: number | null = null;

  constructor(
    private readonly table: Table,
    private readonly options: ChartOptions,
    ...tools: HTMLElement[]
  ) {
    this.group = options.group ?? { key: "value", title: "chart_marks", series: [], limit: NaN };
    this.height = options.group === null ? MARKS_HEIGHT : HEIGHT;
    this.marks = marksOf(table);
    this.positions = new Uint32Array(table.rows);
    table.sequence.forEach((row, position) => {
      this.positions[row] = position;
    });
    this.until = table.rows;
    const zoom = (label: string, sign: string, act: () => void): HTMLElement => button(sign, act, { title: label, "aria-label": label });
    this.root = element(
      "section",
      { class: "chart", "aria-label": text(this.group.title) },
      element("h2", {}, text(this.group.title)),
      element(
        "div",
        { class: "tools noprint" },
        ...tools,
        zoom(text("zoom_left"), "←", () => { this.move(-0.5); }),
        zoom(text("zoom_in"), "+", () => { this.scale(0.5); }),
        zoom(text("zoom_out"), "−", () => { this.scale(2); }),
        zoom(text("zoom_right"), "→", () => { this.move(0.5); }),
        zoom(text("zoom_all"), text("zoom_all"), () => { this.zoom(0, table.rows); }),
        element("span", { class: "hint" }, text("chart_hint")),
      ),
      this.place,
      this.legend(),
      this.told,
    );
    new ResizeObserver(() => { this.resize(); }).observe(this.place);
  }

  private legend(): HTMLElement {
    const made = element("p", { class: "legend" });
    this.group.series.forEach((each, i) => {
      const item = button("", () => {
        if (!this.hidden.delete(i)) {
          this.hidden.add(i);
        }
        item.setAttribute("aria-pressed", String(!this.hidden.has(i)));
        this.fill();
      }, { class: "key", "aria-pressed": "true", title: text("legend_hint") });
      item.append(element("i", { "aria-hidden": "true", class: `shape ${each.shape} ${each.colour.slice(2)}` }), each.label);
      made.append(item);
    });
    const all = this.marks.reduce((bits, mark) => bits | mark, 0);
    const off = specialsOf(this.group.series, this.table.rows);
    const item = (there: boolean, shape: string, label: string): void => {
      if (there) {
        made.append(element("span", { class: "key" }, element("i", { "aria-hidden": "true", class: `shape ${shape}` }), label));
      }
    };
    item((all & NOT_FINITE) !== 0, "wedge error", text("not_finite"));
    item((all & DIFFERS) !== 0, "square error", text("differs"));
    item(off.infinite, "square series1", text("off_scale"));
    item(off.zero, "dash", text(this.group.key === "value" ? "is_zero" : "is_equal"));
    item((all & UNMATCHED) !== 0, "ring", text("unmatched"));
    item(this.options.from !== null, "line error", text("verdict"));
    item(!Number.isNaN(this.group.limit), "line dashed", text("distance_limit", shortNumber(this.group.limit, 3)));
    return made;
  }

  choose(row: number | null): void {
    this.selected = row;
    const at = row === null ? null : (this.positions[row] ?? 0);
    if (at !== null && (at < this.from || at >= this.until)) {
      const half = Math.floor((this.until - this.from) / 2);
      this.zoom(at - half, at + half);
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

  /** In the colours of paper, or again in those of the screen. */
  redraw(): void {
    this.plot?.redraw(false, true);
  }

  private resize(): void {
    const width = this.place.clientWidth;
    if (width === 0) {
      return;
    }
    if (this.plot === null) {
      this.plot = this.make(width);
    } else if (this.plot.width !== width) {
      this.plot.setSize({ width, height: this.height });
    }
    this.fill();
  }

  private fill(): void {
    if (this.plot) {
      const most = Math.max(100, Math.floor(this.plot.width / 2));
      const shown = this.group.series.map((each, i) => (this.hidden.has(i) ? { ...each, at: () => NaN } : each));
      this.buckets = bucketed(shown, this.marks, this.table.sequence, this.from, this.until, most);
      this.plot.setData(this.data());
    }
  }

  private data(): uPlot.AlignedData {
    const { x, values } = this.buckets;
    return [x, ...(values.length > 0 ? values : [x.map(() => null)])];
  }

  private powers(): [number, number] {
    const { limit } = this.group;
    return powersAround([...this.buckets.values.flat(), Number.isNaN(limit) ? null : limit]);
  }

  private bottomBand(): number {
    const zeros = this.buckets.zeros.some((bits) => bits !== 0);
    const rings = this.buckets.marks.some((mark) => (mark & UNMATCHED) !== 0);
    return (zeros ? ZERO_LANE * (this.group.series.length + 1) : 0) + (rings ? RING_BAND : 0);
  }

  /** The powers, with room above and below for what has no place on the scale. */
  private heights(plot: uPlot | null): [number, number] {
    const [low, high] = this.powers().map(Math.log10) as [number, number];
    const pixels = plot && plot.bbox.height > 0 ? plot.bbox.height / devicePixelRatio : this.height - 60;
    const [above, below] = [TOP_BAND, this.bottomBand() + 4];
    const decade = (high - low) / Math.max(20, pixels - above - below);
    return [10 ** (low - below * decade), 10 ** (high + above * decade)];
  }

  private make(width: number): uPlot {
    const axis = { stroke: () => colourOf("--ink"), grid: { stroke: () => colourOf("--line"), width: 1 }, ticks: { stroke: () => colourOf("--line"), width: 1 } };
    const marksAlone = this.group.series.length === 0;
    const plot = new uPlot(
      {
        width,
        height: this.height,
        scales: { x: { time: false, range: () => [this.from, Math.max(this.from + 1, this.until)] }, y: { distr: 3, range: (u) => this.heights(u) } },
        axes: [
          { ...axis, values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? grouped(value) : "")) },
          { ...axis, size: 62, show: !marksAlone, splits: () => powersOfTen(...this.powers()), filter: (_, splits) => splits, values: (_, splits) => splits.map(powerText) },
        ],
        // The points are drawn below: the library has circles alone.
        series: [{ label: "row" }, ...(marksAlone ? [{ label: "" }] : this.group.series.map((each) => ({ label: each.label, paths: () => null, points: { show: false } })))],
        legend: { show: false },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
        hooks: {
          setSelect: [(u) => {
            if (u.select.width > 3) {
              this.zoom(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
            }
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          }],
          setCursor: [(u) => { this.tell(u.cursor.idx ?? null); }],
          draw: [(u) => { this.draw(u); }],
        },
      },
      this.data(),
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
        this.options.select(row);
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
    const numbers = this.group.series
      .map((each): [string, number] => [each.label, each.at(row)])
      .filter(([, value]) => !Number.isNaN(value))
      .map(([label, value]) => `${label} ${shortNumber(value, 3)}`);
    put(this.told, `${grouped(this.table.places[row] ?? 0)}  ${nameOf(this.table, row)}  ${numbers.join(", ")}`);
  }

  private draw(plot: uPlot): void {
    const { ctx } = plot;
    ctx.save();
    this.drawLines(plot);
    this.drawPoints(plot);
    this.drawMarks(plot);
    ctx.restore();
  }

  private drawLines(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const down = (row: number | null, colour: string, width: number, dash: number[]): void => {
      const at = row === null ? -1 : (this.positions[row] ?? -1);
      if (at >= this.from && at < this.until) {
        const x = plot.valToPos(at, "x", true);
        drawLine(ctx, colour, width * ratio, dash.map((part) => part * ratio), [x, bbox.top], [x, bbox.top + bbox.height]);
      }
    };
    down(this.options.from, colourOf("--error"), 2, []);
    down(this.selected, colourOf("--ink"), 1, [4, 3]);
    if (!Number.isNaN(this.group.limit) && this.group.limit > 0) {
      const y = plot.valToPos(this.group.limit, "y", true);
      drawLine(ctx, colourOf("--soft"), ratio, [6 * ratio, 4 * ratio], [bbox.left, y], [bbox.left + bbox.width, y]);
    }
  }

  private drawPoints(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const floor = bbox.top + bbox.height - (this.bottomBand() - ZERO_LANE) * ratio;
    this.group.series.forEach((each, i) => {
      ctx.fillStyle = colourOf(each.colour);
      ctx.beginPath();
      this.buckets.values[i]?.forEach((value, bucket) => {
        const x = plot.valToPos(this.buckets.x[bucket] ?? 0, "x", true);
        if (value !== null) {
          addShape(ctx, each.shape, x, plot.valToPos(value, "y", true), POINT * ratio);
        } else if (((this.buckets.zeros[bucket] ?? 0) & (1 << i)) !== 0) {
          ctx.rect(Math.round(x - 3 * ratio), Math.round(floor + i * ZERO_LANE * ratio), Math.round(6 * ratio), Math.round(2 * ratio));
        }
      });
      ctx.fill();
    });
  }

  private drawMarks(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const marked = (mark: number, act: (x: number) => void): void => {
      ctx.beginPath();
      this.buckets.marks.forEach((found, i) => {
        if ((found & mark) !== 0) {
          act(plot.valToPos(this.buckets.x[i] ?? 0, "x", true));
        }
      });
    };
    const top = bbox.top + (TOP_BAND / 2) * ratio;
    marked(DIFFERS, (x) => { addShape(ctx, "square", x, bbox.top + bbox.height / 2, 4 * ratio); });
    ctx.fillStyle = colourOf("--error");
    ctx.fill();
    marked(OFF_SCALE, (x) => { addShape(ctx, "square", x, top, 4 * ratio); });
    ctx.fillStyle = colourOf("--series1");
    ctx.fill();
    marked(NOT_FINITE, (x) => { addShape(ctx, "wedge", x, top, 5 * ratio); });
    ctx.fillStyle = colourOf("--error");
    ctx.fill();
    marked(UNMATCHED, (x) => {
      ctx.moveTo(x + 4 * ratio, bbox.top + bbox.height - 7 * ratio);
      ctx.arc(x, bbox.top + bbox.height - 7 * ratio, 4 * ratio, 0, 2 * Math.PI);
    });
    ctx.strokeStyle = colourOf("--unmatched");
    ctx.lineWidth = 1.5 * ratio;
    ctx.stroke();
  }

  close(): void {
    this.plot?.destroy();
    this.plot = null;
  }
}
