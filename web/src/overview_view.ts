// SPDX-License-Identifier: Apache-2.0
// All ranks and steps at a glance: a grid to choose from.
import { shortNumber } from "./columns";
import type { Result } from "./data";
import { element, put } from "./dom";
import { usualMeasure } from "./levels";
import { type Description, type Pair, pairTitle, real, type TableInfo } from "./model";
import type { Store } from "./state";
import { text } from "./texts";

const ROOMY = 12; // columns up to which each cell shows its number

function levelOf(pair: Pair, table: TableInfo | undefined): Result {
  const grade = pair.divergence?.grade;
  if (pair.error !== "") {
    return "unmatched";
  }
  if (grade === "fault") {
    return "error";
  }
  const byDistance = usualMeasure(pair, table) === "distance";
  if ((pair.counts.error ?? 0) > (table?.dtype_alone ?? 0) && !byDistance) {
    return "error";
  }
  return grade === "suspect" || ((pair.counts.warning ?? 0) > 0 && !byDistance) ? "warning" : "pass";
}

function told(description: Description, pair: Pair): string {
  if (pair.error !== "") {
    return text("not_compared");
  }
  return description.kind === "view" ? "" : shortNumber(real(pair.largest_relative_error), 3);
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
  const compact = columns.length > ROOMY;
  const said = element("output", { class: "told" });
  const cell = (at: number): HTMLElement => {
    const pair = pairs[at];
    if (!pair) {
      return element("td", {}, "");
    }
    const level = levelOf(pair, description.tables[at]);
    const shown = told(description, pair);
    const label = `${pairTitle(pair)}: ${pair.error === "" ? `${text(level)} ${shown}` : shown}`;
    const made = element(
      "button",
      {
        type: "button",
        class: `pair ${level}`,
        "aria-pressed": String(store.state.pair === at),
        title: `${label}\n${pair.error !== "" ? pair.error : (pair.divergence?.sentence ?? pair.target)}`,
        "aria-label": label,
      },
      element("span", { class: `mark ${level}`, "aria-hidden": "true" }),
      compact ? null : shown,
    );
    const say = (): void => {
      put(said, label);
    };
    made.addEventListener("mouseenter", say);
    made.addEventListener("focus", say);
    made.addEventListener("click", () => {
      store.set({ pair: at, row: null, module: "" });
    });
    return element("td", {}, made);
  };
  const short = (label: string): string => (compact ? label.replace(/^rank/, "") : label);
  const head = element("tr", {}, element("th", {}, compact && ranked ? "rank" : ""), ...columns.map((label) => element("th", { scope: "col" }, short(label))));
  const lines = steps.map((step) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, step === null ? "" : `${text("step")} ${step}`),
      ...columns.map((label) => cell(pairs.findIndex((pair) => pair.step === step && column(pair) === label))),
    ),
  );
  return element(
    "section",
    { class: `overview${compact ? " compact" : ""}`, "aria-label": text("overview") },
    element("h2", {}, text("overview")),
    element("p", { class: "hint" }, text(description.kind === "view" ? "overview_view" : "overview_hint")),
    element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines))),
    compact ? said : null,
  );
}
