// SPDX-License-Identifier: Apache-2.0
// All ranks and steps at a glance: a grid to choose from, and how the error grows with the steps.
import uPlot from "uplot";
import { shortNumber } from "./columns";
import { element } from "./dom";
import { type Description, type Pair, pairTitle, real } from "./model";
import type { Store } from "./state";
import { text } from "./texts";

const GROWTH_HEIGHT = 160;

function levelOf(pair: Pair): string {
  if (pair.error !== "") {
    return "unmatched";
  }
  if ((pair.divergence !== null && ["fault", "suspect"].includes(pair.divergence.grade)) || (pair.counts.error ?? 0) > 0) {
    return "error";
  }
  return (pair.counts.warning ?? 0) > 0 ? "warning" : "pass";
}

function cell(description: Description, at: number, store: Store): HTMLElement {
  const pair = description.summary.pairs[at];
  if (!pair) {
    return element("td", {}, "");
  }
  const level = levelOf(pair);
  const shown = pair.error !== "" ? text("not_compared") : description.kind === "view" ? "" : shortNumber(real(pair.largest_relative_error), 3);
  const made = element(
    "button",
    {
      type: "button",
      class: `pair ${level}`,
      "aria-pressed": String(store.state.pair === at),
      title: pair.error !== "" ? pair.error : (pair.divergence?.sentence ?? pair.target),
      "aria-label": `${pairTitle(pair)}: ${text(level === "unmatched" ? "not_compared" : (level as "pass"))} ${shown}`,
    },
    element("span", { class: `mark ${level}`, "aria-hidden": "true" }),
    shown,
  );
  made.addEventListener("click", () => {
    store.set({ pair: at, row: null, module: "" });
  });
  return element("td", {}, made);
}

/** Null where there is one pair alone. */
export function overviewView(description: Description, store: Store): HTMLElement | null {
  const { pairs } = description.summary;
  if (pairs.length < 2) {
    return null;
  }
  const steps = [...new Set(pairs.map((pair) => pair.step))];
  // Processes have other numbers in each run: those of a step stand by their order.
  const ranked = pairs.every((pair) => pair.label.startsWith("rank"));
  const column = (pair: Pair): string =>
    ranked ? pair.label : `#${pairs.filter((other) => other.step === pair.step).indexOf(pair)}`;
  const columns = [...new Set(pairs.map(column))];
  const head = element("tr", {}, element("th", {}, ""), ...columns.map((label) => element("th", { scope: "col" }, label)));
  const lines = steps.map((step) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, step === null ? "" : `${text("step")} ${step}`),
      ...columns.map((label) => cell(description, pairs.findIndex((pair) => pair.step === step && column(pair) === label), store)),
    ),
  );
  const made = element(
    "section",
    { class: "overview", "aria-label": text("overview") },
    element("h2", {}, text("overview")),
    element("p", { class: "hint" }, text("overview_hint")),
    element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines))),
  );
  const numbers = steps.filter((step): step is number => step !== null);
  if (numbers.length > 1 && description.kind === "compare") {
    made.append(growth(pairs, numbers));
  }
  return made;
}

function growth(pairs: Pair[], steps: number[]): HTMLElement {
  const largest = steps.map((step) => {
    const errors = pairs.filter((pair) => pair.step === step && pair.error === "").map((pair) => real(pair.largest_relative_error));
    const found = Math.max(0, ...errors);
    return found > 0 ? found : null;
  });
  const place = element("div", { class: "plot" });
  const style = getComputedStyle(document.documentElement);
  const axis = { stroke: style.getPropertyValue("--ink").trim(), grid: { stroke: style.getPropertyValue("--line").trim(), width: 1 } };
  let plot: uPlot | null = null;
  new ResizeObserver(() => {
    if (place.clientWidth === 0) {
      return;
    }
    plot ??= new uPlot(
      {
        width: place.clientWidth,
        height: GROWTH_HEIGHT,
        scales: { x: { time: false }, y: { distr: 3 } },
        axes: [
          { ...axis, values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? String(value) : "")) },
          { ...axis, size: 70, values: (_, splits) => splits.map((value) => (Number.isInteger(Math.log10(value)) ? value.toExponential(0) : "")) },
        ],
        series: [{ label: text("step") }, { label: text("relative"), stroke: "#d55e00", width: 2, points: { show: true, size: 6 } }],
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
      },
      [steps, largest],
      place,
    );
    plot.setSize({ width: place.clientWidth, height: GROWTH_HEIGHT });
  }).observe(place);
  return element("div", { class: "growth" }, element("h3", {}, text("growth")), place);
}
