// SPDX-License-Identifier: Apache-2.0
// The top of the page: what was found in one sentence, where the dumps lie, what limits the finding.
import { shortNumber } from "./columns";
import type { Result } from "./data";
import { button, type Child, element } from "./dom";
import { explained } from "./messages";
import { type Description, type Pair, pairTitle, rowOfSpot, type Sign, type TableInfo } from "./model";
import type { Store } from "./state";
import { grouped, type Key, language, text } from "./texts";
import { chineseAcross, chineseChain, chineseRiders, chineseSentence } from "./verdict_text";

/** Brings the row of this name, of that pair, into sight. */
export type Go = (pair: number, name: string) => void;

const TOLD_FILES = 12; // paths that are listed

const isMd5 = (pair: Pair): boolean => pair.mode === "md5" && pair.golden !== "";
const parts = (pair: Pair): boolean =>
  isMd5(pair) ? (pair.counts.error ?? 0) > 0 : pair.divergence !== null && pair.divergence.grade !== "none";

/** Of several pairs the first that parts, else the first that could be compared. */
export function tellingPair(pairs: Pair[]): number {
  const found = pairs.findIndex(parts);
  return found >= 0 ? found : Math.max(0, pairs.findIndex((pair) => pair.error === ""));
}

/** Of several dumps the first with NaN or Inf, else the first that could be read. */
export function tellingDump({ summary, tables }: Description): number {
  const found = tables.findIndex((table) => (table.sign_counts?.not_finite ?? 0) > 0);
  return found >= 0 ? found : Math.max(0, summary.pairs.findIndex((pair) => pair.error === ""));
}

function levelOf(pair: Pair | undefined): Result {
  if (pair === undefined || pair.error !== "") {
    return "unmatched";
  }
  if (!parts(pair)) {
    return "pass";
  }
  return isMd5(pair) || pair.divergence?.grade === "fault" ? "error" : "warning";
}

function sentenceOf(pair: Pair, table: TableInfo | undefined): string {
  if (pair.error !== "") {
    return `${text("not_compared")}: ${pair.error}`;
  }
  if (isMd5(pair)) {
    const all = Object.values(pair.counts).reduce((sum, count) => sum + count, 0);
    const differ = pair.counts.error ?? 0;
    return differ > 0 ? text("md5_differ", grouped(differ), grouped(all), table?.first_error?.name ?? "") : text("md5_same", grouped(all));
  }
  if (pair.divergence === null) {
    return pair.warnings.map((each) => explained(each) || each).join(" ") || text("nothing");
  }
  return language() === "zh" && table?.verdict ? chineseSentence(table.verdict) : pair.divergence.sentence;
}

/** The row that the sentence names; "" if it names none. */
function namedRow(pair: Pair, table: TableInfo | undefined): string {
  if (isMd5(pair)) {
    return table?.first_error?.name ?? "";
  }
  return table?.verdict?.first ? rowOfSpot(table.verdict.first) : "";
}

/** A sentence with the way to the row that it names. */
function finding(pair: Pair, at: number, table: TableInfo | undefined, go: Go): Child[] {
  const name = namedRow(pair, table);
  return [
    sentenceOf(pair, table),
    name === "" ? null : " ",
    name === "" ? null : button(text("show_row"), () => { go(at, name); }, { class: "link noprint" }),
  ];
}

function banner(level: Result, ...children: Child[]): HTMLElement {
  return element(
    "div",
    { class: `verdict ${level}`, role: "status" },
    element("span", { class: `mark ${level}`, "aria-hidden": "true" }),
    element("p", {}, ...children),
  );
}

/** The sentence of the whole comparison: across ranks, else of the first pair that parts. */
function headline(description: Description, go: Go): HTMLElement {
  const { pairs } = description.summary;
  const at = tellingPair(pairs);
  const pair = pairs[at];
  const across = description.across_ranks.find((order) => order.step === (pair?.step ?? null) && order.sentence !== "");
  const failed = pairs.filter((each) => each.error !== "").length;
  const title = pair && pairs.length > 1 ? pairTitle(pair) : "";
  const level = levelOf(pair);
  return banner(
    level === "pass" && failed > 0 ? "unmatched" : level,
    across ? element("span", {}, `${language() === "zh" ? chineseAcross(across) : across.sentence} `) : null,
    title === "" ? null : element("strong", {}, `${title}: `),
    ...(pair ? finding(pair, at, description.tables[at], go) : [text("nothing")]),
    failed > 0 && pairs.length > 1 ? element("strong", { class: "failed" }, ` ${text("some_not_compared", failed, pairs.length)}`) : null,
  );
}

const SIGN_TEXTS: [Sign["kind"], Key][] = [
  ["not_finite", "signs_not_finite"],
  ["dead", "signs_dead"],
  ["mostly_zero", "signs_mostly_zero"],
  ["constant", "signs_constant"],
  ["saturated", "signs_saturated"],
  ["limit", "signs_limit"],
];

function signs(pair: Pair, table: TableInfo, store: Store): HTMLElement {
  if (pair.error !== "") {
    return banner("unmatched", `${text("not_read")}: ${pair.error}`);
  }
  const all = table.signs ?? [];
  const notFinite = all.find((sign) => sign.kind === "not_finite");
  const said = notFinite
    ? text(notFinite.from_inputs ? "sign_not_finite" : "sign_not_finite_own", notFinite.name)
    : text("sign_none");
  const list = element("ul", { class: "signs" });
  for (const [kind, key] of SIGN_TEXTS) {
    const count = table.sign_counts?.[kind] ?? 0;
    const first = all.filter((sign) => sign.kind === kind).slice(0, 5);
    if (count === 0) {
      continue;
    }
    const links = first.flatMap((sign, i) => {
      const link = button(sign.name, () => { store.set({ row: sign.place }); }, { class: "link" });
      return [i === 0 ? "" : ", ", link];
    });
    list.append(element("li", {}, `${text(key, grouped(count))}: `, ...links, count > first.length ? ", ..." : ""));
  }
  return element("div", {}, banner(notFinite ? "error" : all.length > 0 ? "warning" : "pass", said), list);
}

function dumps(pair: Pair, table: TableInfo | undefined): HTMLElement {
  const made = element("dl", { class: "dumps" });
  const line = (label: string, ...values: string[]): void => {
    made.append(element("dt", {}, label), element("dd", {}, values.filter((value) => value !== "").join("  ")));
  };
  const side = (index: number): string[] => [
    table?.dtypes[index] ? `${text("compute_type")} ${table.dtypes[index]}` : "",
    table?.times[index] ? `(${text("written")} ${table.times[index]})` : "",
  ];
  line(pair.golden === "" ? text("one_dump") : text("target"), pair.target, ...side(0));
  if (pair.golden !== "") {
    line(text("golden"), pair.golden, ...side(1));
  }
  return made;
}

function folded(title: string, ...children: Child[]): HTMLElement {
  return element("details", {}, element("summary", {}, title), ...children);
}

function list(lines: string[]): HTMLElement {
  return element("ul", {}, ...lines.map((line) => element("li", {}, line)));
}

function leftOut(description: Description, pair: Pair, table: TableInfo): HTMLElement {
  const how = (): string => {
    if (description.kind === "view") {
      return text(description.summary.pairs.length > 1 ? "left_out_view_several" : "left_out_view");
    }
    // Of one pair its tables; the files of all are those of the summary.
    const files = (pair.files.length > 0 ? pair.files : description.summary.files).filter((file) => !file.endsWith(".html"));
    return files.length > 0 ? text("left_out_files", files.slice(0, TOLD_FILES).join(", ")) : text("left_out_none");
  };
  return element("p", { class: "left-out" }, `${text("left_out", grouped(table.rows), grouped(table.of_all), grouped(description.limit))} ${how()}`);
}

function notes(description: Description, at: number, go: Go): HTMLElement[] {
  const { pairs, unpaired } = description.summary;
  const pair = pairs[at];
  const table = description.tables[at];
  if (!pair) {
    return [];
  }
  const made: HTMLElement[] = [];
  if (pairs.length > 1 && description.kind === "compare" && at !== tellingPair(pairs)) {
    made.push(element("p", { class: "own" }, element("strong", {}, `${pairTitle(pair)}: `), ...finding(pair, at, table, go)));
  }
  const inChinese = language() === "zh" && table?.verdict;
  const limits = inChinese ? chineseRiders(inChinese) : (pair.divergence?.riders ?? []);
  const chain = inChinese ? chineseChain(inChinese) : (table?.chain ?? []);
  if (limits.length + chain.length > 0) {
    made.push(folded(text("detail_of_verdict"), limits.length > 0 ? list(limits) : null, chain.length > 0 ? element("pre", {}, chain.join("\n")) : null));
  }
  if (table && table.rows < table.of_all) {
    made.push(leftOut(description, pair, table));
  }
  const more = (title: Key, lines: string[]): void => {
    if (lines.length > 0) {
      made.push(folded(`${text(title)} (${lines.length})`, list(lines)));
    }
  };
  more("warnings", pair.warnings.map((each) => explained(each) || each));
  more("unpaired", unpaired.map(([side, path, reason]) => `${side === "target" ? text("target") : text("golden")}: ${path}: ${reason}`));
  more(description.kind === "view" ? "not_read" : "not_compared", pairs.filter((each) => each.error !== "").map((each) => `${pairTitle(each)}: ${each.error}`));
  return made;
}

/** `counts` stand between the sentence and the dumps. */
export function verdictView(description: Description, store: Store, counts: HTMLElement, go: Go): HTMLElement {
  const { pair: at } = store.state;
  const pair = description.summary.pairs[at];
  const table = description.tables[at];
  const view = description.kind === "view";
  return element(
    "section",
    { class: "top", "aria-label": text(view ? "view_verdict" : "verdict") },
    view && pair && table ? signs(pair, table, store) : headline(description, go),
    counts,
    pair ? dumps(pair, table) : null,
    ...notes(description, at, go),
    element("p", { class: "made" }, `${text("page_made")} ${description.made}${view ? "" : `; ${text("seconds", shortNumber(description.summary.seconds, 3))}`}`),
  );
}
