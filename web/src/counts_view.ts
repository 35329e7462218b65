// SPDX-License-Identifier: Apache-2.0
// How many rows there are of each level, and the choice of what a level is.
import { RESULTS, type Result } from "./data";
import { element, put } from "./dom";
import { levelName, type Measure, MEASURES, measuresOf } from "./levels";
import type { Pair, TableInfo } from "./model";
import type { Store } from "./state";
import { grouped, text } from "./texts";

export class CountsView {
  readonly root = element("div", { class: "counts" });

  constructor(
    private readonly pair: Pair,
    private readonly info: TableInfo | undefined,
    private readonly store: Store,
  ) {}

  /** `counts` by RESULTS, of the rows in the page; null where they have not been unpacked. */
  draw(measure: Measure, counts: number[] | null): void {
    const { pair, info, store } = this;
    if (pair.error !== "") {
      return; // nothing was counted
    }
    const of = (result: Result, i: number): number => (measure === "result" || counts === null ? (pair.counts[result] ?? 0) : (counts[i] ?? 0));
    const tiles = RESULTS.map((result, i) => ({ result, count: of(result, i) })).filter(({ result }) => result !== "unmatched" || pair.golden !== "");
    put(
      this.root,
      ...tiles.map(({ result, count }) => {
        const tile = element(
          "button",
          { type: "button", class: `tile ${result}`, title: text("tile_hint") },
          element("span", { class: `mark ${result}`, "aria-hidden": "true" }),
          element("b", {}, grouped(count)),
          ` ${levelName(result, measure)}`,
        );
        tile.addEventListener("click", () => {
          store.set({ results: [result] });
        });
        return tile;
      }),
      ...this.choice(measure),
    );
    const alone = info?.dtype_alone ?? 0;
    if (alone > 0) {
      const types = `${info?.dtypes[0] ?? ""} / ${info?.dtypes[1] ?? ""}`;
      this.root.append(element("p", { class: "hint dtype-alone" }, `${text("dtype_alone", grouped(alone), grouped(pair.counts.error ?? 0), types)} ${measure === "result" ? "" : text(`by_${measure}_hint`)}`));
    }
  }

  private choice(measure: Measure): HTMLElement[] {
    const there = measuresOf(this.info);
    if (there.length < 2) {
      return [];
    }
    const choice = element("select", { "aria-label": text("by") });
    for (const each of MEASURES.filter((one) => there.includes(one))) {
      choice.append(element("option", { value: each }, text(`by_${each}`)));
    }
    choice.value = measure;
    choice.addEventListener("change", () => {
      this.store.set({ by: choice.value });
    });
    return [element("label", { class: "by" }, `${text("by")} `, choice)];
  }
}
