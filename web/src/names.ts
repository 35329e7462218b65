// SPDX-License-Identifier: Apache-2.0
// What a row is called, and the line that saves its tensor.
import { NameColumn } from "./columns";
import type { Table } from "./data";

/** The target's name; golden's of a row that golden alone has. */
export function nameOf(table: Table, row: number): string {
  const name = table.byKey.get("target_name")?.text(row) ?? "";
  return name === "N/A" ? (table.byKey.get("golden_name")?.text(row) ?? name) : name;
}

/** The row of this name; else the first row of its call; null if there is neither. */
export function rowOfName(table: Table, name: string): number | null {
  let ofCall: number | null = null;
  for (const key of ["target_name", "golden_name"]) {
    const column = table.byKey.get(key);
    if (!(column instanceof NameColumn)) {
      continue;
    }
    // A name is that of its op and what follows: few ops can begin it.
    const rests = column.ops.map((op) => (op !== "" && name.startsWith(op) ? column.suffixes.indexOf(name.slice(op.length)) : -2));
    for (let row = 0; row < table.rows; row++) {
      const rest = rests[column.opIds[row] ?? 0] ?? -2;
      if (rest >= 0 && rest === column.suffixIds[row]) {
        return row;
      }
      if (rest !== -2 && ofCall === null && name.charAt(column.op(row).length) === ".") {
        ofCall = row;
      }
    }
  }
  return ofCall;
}

/** A line of Python that is safe to paste whatever the name holds: only letters, digits, points, dashes and underscores are left. */
export function saveLine(name: string): string {
  return `x = acl_save(x, "./acl_save/${name.replace(/[^A-Za-z0-9._-]/g, "_")}.pt")  # from msprobe.pytorch import acl_save`;
}
