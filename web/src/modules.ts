// SPDX-License-Identifier: Apache-2.0
// The tree that the points in the names of calls make.
import type { Table } from "./data";

export interface ModuleNode {
  name: string; // one part
  path: string; // all parts from the root
  parent: ModuleNode | null;
  children: Map<string, ModuleNode>;
  counts: number[]; // rows below by result
  first: number; // the first row below
}

// How bad a result is: pass, unmatched, warning, error.
const WEIGHT = [0, 2, 3, 1];

export function worst(node: ModuleNode): number {
  let found = 0;
  node.counts.forEach((count, result) => {
    if (count > 0 && (WEIGHT[result] ?? 0) > (WEIGHT[found] ?? 0)) {
      found = result;
    }
  });
  return found;
}

/** Module.layers.0.attn.Attention.forward.3 is layers.0.attn of Module; Aten.mm.3.forward is mm of Aten. */
export function modulePath(op: string): string[] {
  const parts = op.split(".");
  const pass = Math.max(parts.lastIndexOf("forward"), parts.lastIndexOf("backward"), parts.lastIndexOf("parameters_grad"));
  if (pass > 1) {
    parts.length = pass;
    if (parts[0] === "Module" || parts[0] === "Cell") {
      if (parts.length > 2) {
        parts.pop(); // the class
      }
    } else if (/^\d+$/.test(parts.at(-1) ?? "")) {
      parts.pop(); // the number of the call
    }
  }
  return parts;
}

export class ModuleTree {
  readonly root: ModuleNode = this.node("", null);
  private readonly ofOp: (ModuleNode | undefined)[];

  constructor(table: Table, levels: Uint8Array) {
    this.ofOp = new Array<ModuleNode | undefined>(table.ops.length);
    for (let row = 0; row < table.rows; row++) {
      const op = table.opIds[row] ?? 0;
      const node = (this.ofOp[op] ??= this.place(modulePath(table.ops[op] ?? ""), row));
      const result = levels[row] ?? 0;
      node.counts[result] = (node.counts[result] ?? 0) + 1;
    }
    this.sumUp(this.root);
  }

  private node(name: string, parent: ModuleNode | null, first = 0): ModuleNode {
    const path = parent === null || parent.path === "" ? name : `${parent.path}.${name}`;
    return { name, path, parent, children: new Map(), counts: [0, 0, 0, 0], first };
  }

  private place(path: string[], row: number): ModuleNode {
    let at = this.root;
    for (const part of path) {
      let child = at.children.get(part);
      if (!child) {
        child = this.node(part, at, row);
        at.children.set(part, child);
      }
      at = child;
    }
    return at;
  }

  // Not recursive: a name may have thousands of points.
  private sumUp(root: ModuleNode): void {
    const order = [root];
    for (const node of order) {
      for (const child of node.children.values()) {
        order.push(child);
      }
    }
    for (const node of order.reverse()) {
      node.counts.forEach((count, result) => {
        if (node.parent) {
          node.parent.counts[result] = (node.parent.counts[result] ?? 0) + count;
        }
      });
    }
  }

  find(path: string): ModuleNode | null {
    let at: ModuleNode | undefined = this.root;
    for (const part of path === "" ? [] : path.split(".")) {
      at = at?.children.get(part);
    }
    return at ?? null;
  }

  ofOperation(op: number): ModuleNode | undefined {
    return this.ofOp[op];
  }

  /** For each op whether it stands at or below the path. */
  opsBelow(path: string): boolean[] {
    const wanted = this.find(path);
    const known = new Map<ModuleNode, boolean>();
    const below = (node: ModuleNode): boolean => {
      let at: ModuleNode | null = node;
      while (at !== null && at !== wanted) {
        at = at.parent;
      }
      return at !== null;
    };
    return this.ofOp.map((node) => {
      if (!node || !wanted) {
        return false;
      }
      let answer = known.get(node);
      if (answer === undefined) {
        answer = below(node);
        known.set(node, answer);
      }
      return answer;
    });
  }

  /** Nodes whose path has the text, in the order of execution. */
  search(text: string, most: number): ModuleNode[] {
    const wanted = text.toLowerCase();
    const found: ModuleNode[] = [];
    const open = [this.root];
    for (let node = open.pop(); node && found.length < most; node = open.pop()) {
      if (node !== this.root && node.path.toLowerCase().includes(wanted)) {
        found.push(node);
      }
      open.push(...[...node.children.values()].reverse());
    }
    return found;
  }
}
