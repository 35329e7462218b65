// SPDX-License-Identifier: Apache-2.0
// How the largest relative error grows with the steps; each step tells its worst row, and a click leads there.
import uPlot from "uplot";
import { colourOf, powersAround, powersOfTen, powerText } from "./chart_shapes";
import { shortNumber } from "./columns";
import { element, put } from "./dom";
import { type Description, pairTitle, real } from "./model";
import { text } from "./texts";

const HEIGHT = 170;

interface Step {
  step: number;
  error: number;
  pair: number; // whose row is the worst
  row: string;
}

function stepsOf(description: Description): Step[] {
  const found = new Map<number, Step>();
  description.summary.pairs.forEach((pair, at) => {
    const error = real(pair.largest_relative_error);
    if (pair.step !== null && pair.error === "" && error >= (found.get(pair.step)?.error ?? 0)) {
      found.set(pair.step, { step: pair.step, error, pair: at, row: description.tables[at]?.largest_at ?? "" });
    }
  });
  return [...found.values()].sort((a, b) => a.step - b.step);
}

/** Null unless there are several steps. `go` brings a row of a pair into sight. */
export function growthView(description: Description, go: (pair: number, name: string) => void): HTMLElement | null {
  const steps = stepsOf(description);
  if (steps.length < 2) {
    return null;
  }
  const place = element("div", { class: "plot" });
  const told = element("output", { class: "told" });
  const powers = powersAround(steps.map((step) => step.error));
  const axis = { stroke: () => colourOf("--ink"), grid: { stroke: () => colourOf("--line"), width: 1 }, ticks: { stroke: () => colourOf("--line"), width: 1 } };
  const tell = (at: number | null | undefined): void => {
    const step = steps[at ?? -1];
    const pair = step && description.summary.pairs[step.pair];
    put(told, step && pair ? `${pairTitle(pair)}  ${shortNumber(step.error, 3)}  ${step.row}` : "");
  };
  let plot: uPlot | null = null;
  new ResizeObserver(() => {
    if (place.clientWidth === 0) {
      return;
    }
    if (plot === null) {
      plot = new uPlot(
        {
          width: place.clientWidth,
          height: HEIGHT,
          scales: { x: { time: false }, y: { distr: 3, range: () => powers } },
          axes: [
            { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 1000, 10_000, 100_000] },
            { ...axis, size: 62, splits: () => powersOfTen(...powers), filter: (_, splits) => splits, values: (_, splits) => splits.map(powerText) },
          ],
          series: [{ label: text("step") }, { label: text("relative"), stroke: () => colourOf("--error"), width: 2, points: { show: true, size: 7, fill: () => colourOf("--error") } }],
          legend: { show: false },
          cursor: { drag: { x: false, y: false } },
          hooks: { setCursor: [(u) => { tell(u.cursor.idx); }] },
        },
        [steps.map((step) => step.step), steps.map((step) => (step.error > 0 ? step.error : null))],
        place,
      );
      plot.over.addEventListener("click", () => {
        const step = steps[plot?.cursor.idx ?? -1];
        if (step) {
          go(step.pair, step.row);
        }
      });
    } else {
      plot.setSize({ width: place.clientWidth, height: HEIGHT });
    }
  }).observe(place);
  return element("div", { class: "growth" }, element("h3", {}, text("growth"), element("small", { class: "hint noprint" }, ` ${text("growth_hint")}`)), place, told);
}
