// SPDX-License-Identifier: Apache-2.0
// The chosen row: both records side by side, why it was judged so, and the line that saves its tensor.
import type { Column } from "./columns";
import type { Table } from "./data";
import { columnHint, columnTitle } from "./column_texts";
import { button, copyText, element, put } from "./dom";
import { explained, messagesOf } from "./messages";
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
// What stands in the cells of a side that has no such row.
const NOTHING = new Set(["", "N/A"]);
const SPECIAL: Key[] = ["nan", "pos_inf", "neg_inf", "zero"];
const METRICS = ["cosine", "euclidean", "max_abs", "max_rel", "one_thousandth", "five_thousandths", "over_tolerance", "distance", "order"];

function special(cell: string): string[] {
  return cell === "" ? SPECIAL.map(() => "") : (JSON.parse(cell) as number[]).map(String);
}

function ulp(cell: string): string {
  return cell === "N/A" || cell === "" ? "" : text("worst_ulp", cell);
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
    found.push({ label: `${text("worst_value")} ${at("worst_index")}`, target: at("worst_target"), golden: at("worst_golden"), difference: ulp(at("worst_ulp")) });
  }
  return found;
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

/** Err_message stays as the table has it; what a page of one dump says is the page's own. */
function message(said: string, isOfTable: boolean): HTMLElement {
  const other = explained(said);
  if (other === "" || !isOfTable) {
    return element("li", {}, other || said);
  }
  return element("li", {}, said, element("div", { class: "hint" }, other));
}

export function detailView(table: Table, row: number | null, close: () => void): HTMLElement {
  const made = element("section", { class: "detail", "aria-label": text("record") });
  if (row === null) {
    made.classList.add("none");
    return made;
  }
  const name = nameOf(table, row);
  const all = lines(table, row).filter((line) => !NOTHING.has(line.target) || !NOTHING.has(line.golden));
  const hasGolden = table.byKey.has("golden_name");
  const has = (key: "difference" | "relative"): boolean => all.some((line) => (line[key] ?? "") !== "");
  const [differs, relates] = [has("difference"), has("relative")];
  const head = ["", hasGolden ? text("target") : text("one_dump"), ...(hasGolden ? [text("golden")] : []), ...(differs ? [text("difference")] : []), ...(relates ? [text("relative")] : [])];
  const body = all.map((line) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, line.label),
      element("td", { class: hasGolden && line.target !== line.golden ? "other" : "" }, line.target),
      ...(hasGolden ? [element("td", { class: line.target !== line.golden ? "other" : "" }, line.golden)] : []),
      ...(differs ? [element("td", {}, line.difference ?? "")] : []),
      ...(relates ? [element("td", {}, line.relative ?? "")] : []),
    ),
  );
  const metrics = METRICS.map((key) => table.byKey.get(key)).filter((column) => column !== undefined && !NOTHING.has(column.text(row))) as Column[];
  const why = messagesOf(table.byKey.get("message")?.text(row) ?? "[]");
  const stack = stackOf(table, row);
  const op = modulePath(table.ops[table.opIds[row] ?? 0] ?? "");
  const line = saveLine(name);
  const copied = element("span", { role: "status" });
  const side = element("div", { class: "side" });
  made.append(
    element("h2", {}, name, button(text("close"), close, { class: "noprint close" })),
    element(
      "div",
      { class: "sides" },
      element("div", { class: "scroll" }, element("table", { class: "records" }, element("thead", {}, element("tr", {}, ...head.map((each) => element("th", { scope: "col" }, each)))), element("tbody", {}, ...body))),
      side,
    ),
  );
  if (metrics.length > 0) {
    side.append(
      element(
        "dl",
        { class: "metrics" },
        ...metrics.map((column) =>
          element(
            "div",
            { title: columnHint(column) },
            element("dt", {}, columnTitle(column)),
            element("dd", {}, column.key === "distance" ? column.shown(row) : column.text(row)),
          ),
        ),
      ),
    );
  }
  if (why.length > 0) {
    side.append(element("h3", {}, text("messages")), element("ul", {}, ...why.map((each) => message(each, hasGolden))));
  }
  if (stack !== "") {
    side.append(element("details", {}, element("summary", {}, text("stack")), element("pre", {}, stack)));
  }
  side.append(
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
