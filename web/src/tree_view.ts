// SPDX-License-Identifier: Apache-2.0
// The tree of modules: coloured by the worst result below, opened by mouse or keys, searched.
import { RESULTS } from "./data";
import { button, element, put, settled } from "./dom";
import { levelName, type Measure } from "./levels";
import { type ModuleNode, type ModuleTree, worst } from "./modules";
import type { Store } from "./state";
import { grouped, text } from "./texts";

const AT_ONCE = 300; // children that are shown before "more" is asked for
const FOUND_AT_MOST = 200;

export class TreeView {
  readonly root: HTMLElement;
  private readonly list = element("ul", { role: "tree", class: "tree", "aria-label": text("tree") });
  private readonly open = new Set<ModuleNode>();
  private readonly shownOf = new Map<ModuleNode, number>();
  private readonly search = element("input", { type: "search", placeholder: text("tree_search"), "aria-label": text("tree_search") });
  private focus = "";

  constructor(
    private readonly tree: ModuleTree,
    private readonly store: Store,
    private readonly measure: Measure,
  ) {
    this.root = element("section", { class: "modules", "aria-label": text("tree") }, element("h2", {}, text("tree")), this.search, this.list);
    this.search.addEventListener("input", settled(120, () => {
      this.draw();
    }));
    this.list.addEventListener("keydown", (event) => {
      this.key(event);
    });
    this.openWorst();
    this.draw();
  }

  /** From the root down the worst child, the earliest of several. */
  private openWorst(): void {
    let at: ModuleNode | undefined = this.tree.root;
    while (at && at.children.size > 0) {
      this.open.add(at);
      const level: number = worst(at);
      at = level === 0 ? undefined : [...at.children.values()].find((child) => worst(child) === level);
    }
    const chosen = this.tree.find(this.store.state.module);
    for (let node = chosen?.parent; node; node = node.parent) {
      this.open.add(node);
    }
  }

  draw(): void {
    const wanted = this.search.value.trim();
    const items: HTMLElement[] = [];
    if (wanted === "") {
      items.push(this.item(this.tree.root, 1));
    } else {
      items.push(...this.tree.search(wanted, FOUND_AT_MOST).map((node) => this.item(node, 1, true)));
    }
    put(this.list, ...(items.length > 0 ? items : [element("li", { class: "empty" }, text("nothing"))]));
    const focused = this.items().find((item) => item.dataset.path === this.focus) ?? this.items()[0];
    if (focused) {
      focused.tabIndex = 0;
    }
  }

  private item(node: ModuleNode, level: number, flat = false): HTMLElement {
    const result = RESULTS[worst(node)] ?? "pass";
    const opens = !flat && node.children.size > 0;
    const isOpen = opens && this.open.has(node);
    const rows = node.counts.reduce((sum, count) => sum + count, 0);
    const label = element(
      "div",
      { class: "label" },
      element("span", { class: "twist", "aria-hidden": "true" }, opens ? (isOpen ? "▾" : "▸") : ""),
      element("span", { class: `mark ${result}`, role: "img", "aria-label": levelName(result, this.measure) }),
      element("span", { class: "name" }, node === this.tree.root ? text("tree_all") : flat ? node.path : node.name),
      element("span", { class: "count" }, grouped(rows)),
    );
    const made = element(
      "li",
      {
        role: "treeitem",
        tabindex: -1,
        "aria-level": level,
        "aria-expanded": opens ? String(isOpen) : undefined,
        "aria-selected": String(this.store.state.module === node.path),
        "data-path": node.path,
        title: RESULTS.map((each, i) => ({ each, count: node.counts[i] ?? 0 }))
          .filter(({ count }) => count > 0)
          .map(({ each, count }) => `${levelName(each, this.measure)} ${grouped(count)}`)
          .join(", "),
      },
      label,
    );
    label.firstElementChild?.addEventListener("click", (event) => {
      event.stopPropagation();
      this.toggle(node);
    });
    label.addEventListener("click", () => {
      this.choose(node);
    });
    if (isOpen) {
      const most = this.shownOf.get(node) ?? AT_ONCE;
      const children = [...node.children.values()];
      const group = element("ul", { role: "group" }, ...children.slice(0, most).map((child) => this.item(child, level + 1)));
      if (children.length > most) {
        group.append(
          element("li", { role: "none" }, button(text("more", grouped(children.length - most)), () => {
            this.shownOf.set(node, most + AT_ONCE);
            this.draw();
          })),
        );
      }
      made.append(group);
    }
    return made;
  }

  private choose(node: ModuleNode): void {
    this.focus = node.path;
    if (node.children.size > 0) {
      this.open.add(node);
    }
    this.store.set({ module: this.store.state.module === node.path ? "" : node.path });
    this.draw();
    this.focusItem();
  }

  private toggle(node: ModuleNode): void {
    if (!this.open.delete(node)) {
      this.open.add(node);
    }
    this.focus = node.path;
    this.draw();
    this.focusItem();
  }

  private items(): HTMLElement[] {
    return [...this.list.querySelectorAll<HTMLElement>("[role=treeitem]")];
  }

  private focusItem(): void {
    this.items().find((item) => item.dataset.path === this.focus)?.focus({ preventScroll: false });
  }

  private key(event: KeyboardEvent): void {
    const items = this.items();
    const at = items.findIndex((item) => item === document.activeElement);
    const item = items[at];
    const node = item && this.tree.find(item.dataset.path ?? "");
    if (!node) {
      return;
    }
    const move = (to: HTMLElement | undefined): void => {
      if (to) {
        item.tabIndex = -1;
        to.tabIndex = 0;
        this.focus = to.dataset.path ?? "";
        to.focus();
      }
    };
    const isOpen = item.getAttribute("aria-expanded");
    switch (event.key) {
      case "ArrowDown":
        move(items[at + 1]);
        break;
      case "ArrowUp":
        move(items[at - 1]);
        break;
      case "Home":
        move(items[0]);
        break;
      case "End":
        move(items.at(-1));
        break;
      case "ArrowRight":
        if (isOpen === "false") {
          this.toggle(node);
        } else if (isOpen === "true") {
          move(items[at + 1]);
        }
        break;
      case "ArrowLeft":
        if (isOpen === "true") {
          this.toggle(node);
        } else {
          move(items.find((each) => node.parent !== null && each.dataset.path === node.parent.path));
        }
        break;
      case "Enter":
      case " ":
        this.choose(node);
        break;
      default:
        return;
    }
    event.preventDefault();
  }
}
