// SPDX-License-Identifier: Apache-2.0
// The chosen row: both records side by side, why it was judged so, and the line that saves its tensor.
import type { Table } from "./data";
import { button, copyText, element, put } from "./dom";
import { modulePath } from "./modules";
import { nameOf, saveLine } from "./names";
import { type Key, text } from "./texts";

interface Line {
  label: string;
  target: string;
  golden: string;
  difference?: string;
  relative?: string;
}

const SIDES = ["name", "dtype", "shape", "grad", "md5"] as const;
const NUMBERS = ["max", "min", "mean", "norm"] as const;
const SPECIAL: Key[] = ["nan", "pos_inf", "neg_inf", "zero"];
const METRICS = ["cosine", "euclidean", "max_abs", "max_rel", "one_thousandth", "five_thousandths", "worst_ulp", "over_tolerance"];

function special(cell: string): string[] {
  return cell === "" ? SPECIAL.map(() => "") : (JSON.parse(cell) as number[]).map(String);
}

function lines(table: Table, row: number): Line[] {
  const at = (key: string): string => table.byKey.get(key)?.text(row) ?? "";
  const found: Line[] = [];
  for (const key of SIDES) {
    if (table.byKey.has(`target_${key}`)) {
      found.push({ label: text(key), target: at(`target_${key}`), golden: at(`golden_${key}`) });
    }
  }
  for (const key of NUMBERS) {
    if (table.byKey.has(`target_${key}`)) {
      found.push({
        label: text(key),
        target: at(`target_${key}`),
        golden: at(`golden_${key}`),
        difference: at(`${key}_diff`),
        relative: at(`${key}_error`),
      });
    }
  }
  const [target, golden] = [special(at("target_special")), special(at("golden_special"))];
  SPECIAL.forEach((key, i) => {
    if (target[i] !== "" || golden[i] !== "") {
      found.push({ label: text(key), target: target[i] ?? "", golden: golden[i] ?? "" });
    }
  });
  if (table.byKey.has("worst_index")) {
    found.push({ label: `${text("worst_value")} ${at("worst_index")}`, target: at("worst_target"), golden: at("worst_golden") });
  }
  return found;
}

function messages(cell: string): string[] {
  try {
    return (JSON.parse(cell) as unknown[]).map(String);
  } catch {
    return cell === "" ? [] : [cell];
  }
}

/** What the stack of the row's call says; it stands in the first row of the call alone. */
function stackOf(table: Table, row: number): string {
  const column = table.byKey.get("stack");
  let first = row;
  while (first > 0 && table.opIds[first - 1] === table.opIds[row]) {
    first--;
  }
  const found = column?.text(first) ?? "";
  return found === "N/A" ? "" : found;
}

export function detailView(table: Table, row: number | null, close: () => void): HTMLElement {
  const made = element("section", { class: "detail", "aria-label": text("record") });
  if (row === null) {
    made.append(element("p", { class: "empty" }, text("no_selection")));
    return made;
  }
  const name = nameOf(table, row);
  const all = lines(table, row).filter((line) => line.target !== "" || line.golden !== "");
  const hasGolden = table.byKey.has("golden_name");
  const differs = all.some((line) => line.difference !== undefined && line.difference !== "");
  const head = ["", hasGolden ? text("target") : text("one_dump"), ...(hasGolden ? [text("golden")] : []), ...(differs ? [text("difference"), text("relative")] : [])];
  const body = all.map((line) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, line.label),
      element("td", { class: hasGolden && line.target !== line.golden ? "other" : "" }, line.target),
      ...(hasGolden ? [element("td", { class: line.target !== line.golden ? "other" : "" }, line.golden)] : []),
      ...(differs ? [element("td", {}, line.difference ?? ""), element("td", {}, line.relative ?? "")] : []),
    ),
  );
  const metrics = METRICS.map((key) => table.byKey.get(key)).filter((column) => column !== undefined);
  const why = messages(table.byKey.get("message")?.text(row) ?? "[]");
  const stack = stackOf(table, row);
  const op = modulePath(table.ops[table.opIds[row] ?? 0] ?? "");
  const line = saveLine(name);
  const copied = element("span", { role: "status" });
  made.append(
    element("h2", {}, name, button(text("close"), close, { class: "noprint close" })),
    element("div", { class: "scroll" }, element("table", { class: "records" }, element("thead", {}, element("tr", {}, ...head.map((each) => element("th", { scope: "col" }, each)))), element("tbody", {}, ...body))),
  );
  if (metrics.length > 0) {
    made.append(element("dl", { class: "metrics" }, ...metrics.flatMap((column) => [element("dt", {}, column.title), element("dd", {}, column.text(row))])));
  }
  if (why.length > 0) {
    made.append(element("h3", {}, text("messages")), element("ul", {}, ...why.map((each) => element("li", {}, each))));
  }
  if (stack !== "") {
    made.append(element("details", {}, element("summary", {}, text("stack")), element("pre", {}, stack)));
  }
  made.append(
    element("p", {}, text("acl_save", op.slice(1).join(".") || op.join("."))),
    element(
      "div",
      { class: "save" },
      element("code", {}, line),
      button(text("copy"), () => {
        void copyText(line).then(() => { put(copied, text("copied")); });
      }),
      copied,
    ),
  );
  return made;
}
