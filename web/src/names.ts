// SPDX-License-Identifier: Apache-2.0
// What a row is called, and the line that saves its tensor.
import type { Table } from "./data";

/** The target's name; golden's of a row that golden alone has. */
export function nameOf(table: Table, row: number): string {
  const name = table.byKey.get("target_name")?.text(row) ?? "";
  return name === "N/A" ? (table.byKey.get("golden_name")?.text(row) ?? name) : name;
}

/** A line of Python that is safe to paste whatever the name holds: only letters, digits, points, dashes and underscores are left. */
export function saveLine(name: string): string {
  return `x = acl_save(x, "./acl_save/${name.replace(/[^A-Za-z0-9._-]/g, "_")}.pt")  # from msprobe.pytorch import acl_save`;
}
