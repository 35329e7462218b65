// SPDX-License-Identifier: Apache-2.0
// The top of the page: what was found in one sentence, the counts, where the dumps lie.
import { RESULTS, type Result } from "./data";
import { element } from "./dom";
import { type Description, type Pair, pairTitle, real, type Sign, type Spot, type TableInfo } from "./model";
import { shortNumber } from "./columns";
import type { Store } from "./state";
import { grouped, type Key, language, text } from "./texts";

const number = (value: number | string | null | undefined): string => shortNumber(real(value), 4);

// The words of csrc/compare/divergence_words.h.
const GRADES: Record<string, string> = { "first fault": "首个故障", "first suspect": "首个疑点", hint: "迹象" };
const SECTIONS: Record<string, string> = { input: "输入", output: "输出", parameter: "参数" };
const FINDINGS: Record<string, string> = {
  "integers differ": "本应相等的整数不同",
  "shapes differ": "形状不同",
  "missing on one side": "只有一侧有这个张量",
  "not finite": "只有一侧出现 NaN 或 Inf",
  "golden is all zero": "标杆全为零，目标不是",
};

function whereToLook(spot: Spot): string {
  switch (spot.where) {
    case "inside the call":
      return `请查看 ${spot.call} 内部`;
    case "own code after the last child":
      return `请查看 ${spot.call} 自身代码中最后一个子模块之后的部分`;
    case "own code before the call":
      return `请查看${spot.code === "" ? "" : ` ${spot.code} 自身代码中`} ${spot.call} 之前的部分`;
    case "caller":
      return "请查看调用方：输入已经不同";
    default:
      return "请核对权重";
  }
}

/** The sentence of the comparison in Chinese, from its parts. */
function chineseSentence(spot: Spot): string {
  const grade = spot.where === "parameter" ? "可疑的权重" : (GRADES[spot.grade] ?? spot.grade);
  const tensor = `${spot.call} 的${SECTIONS[spot.section] ?? spot.section} ${spot.path}`.trimEnd();
  const finding = FINDINGS[spot.finding];
  const seen =
    finding ??
    `${spot.statistic} ${number(spot.target)}，标杆 ${number(spot.golden)}；E = ${number(spot.distance)}，是此前噪声 (${number(spot.noise)}) 的 ${number(spot.ratio)} 倍`;
  return `${grade}：最早见于 ${tensor}：${seen}；${whereToLook(spot)}。`;
}

function sentenceOf(pair: Pair, table: TableInfo | undefined): string {
  if (pair.error !== "") {
    return `${text("not_compared")}: ${pair.error}`;
  }
  if (pair.divergence === null) {
    return text("no_verdict");
  }
  const spot = table?.verdict?.first;
  return language() === "zh" && spot ? chineseSentence(spot) : pair.divergence.sentence;
}

/** The sentence of the whole comparison: across ranks, else of the first pair that parts. */
function headline(description: Description): HTMLElement {
  const { pairs } = description.summary;
  const parts = (pair: Pair): boolean => pair.divergence !== null && pair.divergence.grade !== "none";
  const first = Math.max(0, pairs.findIndex(parts));
  const pair = pairs[first];
  const across = description.across_ranks.find((order) => order.step === (pair?.step ?? null) && order.sentence !== "");
  const title = pair && pairs.length > 1 ? pairTitle(pair) : "";
  const severe = pair !== undefined && parts(pair);
  return element(
    "div",
    { class: `verdict ${severe ? "error" : "pass"}`, role: "status" },
    element("span", { class: `mark ${severe ? "error" : "pass"}`, "aria-hidden": "true" }),
    element(
      "p",
      {},
      across ? element("span", {}, `${across.sentence} `) : null,
      title === "" ? null : element("strong", {}, `${title}: `),
      pair ? sentenceOf(pair, description.tables[first]) : text("nothing"),
    ),
  );
}

const SIGN_TEXTS: Record<Sign["kind"], Key> = {
  not_finite: "signs_not_finite",
  dead: "signs_dead",
  mostly_zero: "signs_mostly_zero",
  constant: "signs_constant",
  saturated: "signs_saturated",
  limit: "signs_limit",
};

function signs(table: TableInfo, select: (place: number) => void): HTMLElement {
  const all = table.signs ?? [];
  const notFinite = all.find((sign) => sign.kind === "not_finite");
  const headline = notFinite
    ? text(notFinite.from_inputs ? "sign_not_finite" : "sign_not_finite_own", notFinite.name)
    : text("sign_none");
  const list = element("ul", { class: "signs" });
  for (const kind of ["not_finite", "dead", "mostly_zero", "constant", "saturated", "limit"] as const) {
    const count = table.sign_counts?.[kind] ?? 0;
    const first = all.filter((sign) => sign.kind === kind).slice(0, 5);
    if (count === 0) {
      continue;
    }
    const links = first.flatMap((sign, i) => {
      const link = element("button", { type: "button", class: "link" }, sign.name);
      link.addEventListener("click", () => {
        select(sign.place);
      });
      return [i === 0 ? "" : ", ", link];
    });
    list.append(element("li", {}, `${text(SIGN_TEXTS[kind], grouped(count))}; `, ...links, count > first.length ? ", ..." : ""));
  }
  const level = notFinite ? "error" : (table.signs ?? []).length > 0 ? "warning" : "pass";
  return element(
    "div",
    {},
    element("div", { class: `verdict ${level}`, role: "status" }, element("span", { class: `mark ${level}`, "aria-hidden": "true" }), element("p", {}, headline)),
    list,
  );
}

function counts(of: Record<string, number>, store: Store): HTMLElement {
  const made = element("div", { class: "counts" });
  for (const result of RESULTS) {
    const only: Result[] = [result];
    const tile = element(
      "button",
      { type: "button", class: `tile ${result}` },
      element("span", { class: `mark ${result}`, "aria-hidden": "true" }),
      element("b", {}, grouped(of[result] ?? 0)),
      ` ${text(result)}`,
    );
    tile.addEventListener("click", () => {
      store.set({ results: only });
    });
    made.append(tile);
  }
  return made;
}

function dumps(pair: Pair, table: TableInfo | undefined): HTMLElement {
  const made = element("dl", { class: "dumps" });
  const line = (label: string, ...values: string[]): void => {
    made.append(element("dt", {}, label), element("dd", {}, values.filter((value) => value !== "").join("  ")));
  };
  const written = (index: number): string => (table?.times[index] ? `(${text("written")} ${table.times[index]})` : "");
  line(pair.golden === "" ? text("one_dump") : text("target"), pair.target, table?.dtypes[0] ? `${text("compute_type")} ${table.dtypes[0]}` : "", written(0));
  if (pair.golden !== "") {
    line(text("golden"), pair.golden, table?.dtypes[1] ? `${text("compute_type")} ${table.dtypes[1]}` : "", written(1));
  }
  return made;
}

function notes(description: Description, pair: Pair, table: TableInfo | undefined): HTMLElement[] {
  const made: HTMLElement[] = [];
  const several = description.summary.pairs.length > 1;
  if (several && pair.divergence !== null && pair.error === "") {
    made.push(element("p", { class: "own" }, element("strong", {}, `${pairTitle(pair)}: `), sentenceOf(pair, table)));
  }
  const limits = pair.divergence?.riders ?? [];
  const chain = table?.chain ?? [];
  if (limits.length + chain.length > 0) {
    made.push(
      element(
        "details",
        {},
        element("summary", {}, text("detail_of_verdict")),
        ...(limits.length > 0 ? [element("ul", {}, ...limits.map((each) => element("li", {}, each)))] : []),
        ...(chain.length > 0 ? [element("pre", {}, chain.join("\n"))] : []),
      ),
    );
  }
  if (table && table.rows < table.of_all) {
    const where = description.summary.files.filter((file) => !file.endsWith(".html"));
    made.push(
      element(
        "p",
        { class: "left-out" },
        `${text("left_out", grouped(table.rows), grouped(table.of_all), grouped(description.limit))} `,
        where.length > 0 ? text("left_out_files", (pair.files.length > 0 ? pair.files : where).join(", ")) : text("left_out_none"),
      ),
    );
  }
  const more = (title: string, lines: string[]): void => {
    if (lines.length > 0) {
      made.push(element("details", {}, element("summary", {}, `${title} (${lines.length})`), element("ul", {}, ...lines.map((each) => element("li", {}, each)))));
    }
  };
  more(text("warnings"), pair.warnings);
  more(text("unpaired"), description.summary.unpaired.map(([side, path, reason]) => `${side}: ${path}: ${reason}`));
  return made;
}

export function verdictView(description: Description, store: Store, select: (place: number) => void): HTMLElement {
  const { pair: at } = store.state;
  const pair = description.summary.pairs[at];
  const table = description.tables[at];
  const view = description.kind === "view";
  return element(
    "section",
    { class: "top", "aria-label": text(view ? "view_verdict" : "verdict") },
    view && table ? signs(table, select) : headline(description),
    counts(pair && description.summary.pairs.length > 1 ? pair.counts : description.summary.counts, store),
    pair ? dumps(pair, table) : null,
    ...(pair ? notes(description, pair, table) : []),
    element("p", { class: "made" }, `${text("page_made")} ${description.made}${view ? "" : `; ${text("seconds", shortNumber(description.summary.seconds, 3))}`}`),
  );
}
