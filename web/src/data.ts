// SPDX-License-Identifier: Apache-2.0
// Unpacks a table that the page carries. csrc/report/page_rows.h describes the layout.
import { type Column, DerivedColumn, NameColumn, NumberColumn, TextColumn, Words } from "./columns";

type Section = [offset: number, length: number];

interface ColumnHeader {
  key: string;
  title: string;
  kind: "name" | "text" | "number" | "difference" | "relative";
  ids?: Section;
  suffix_ids?: Section;
  texts?: string[];
  numbers?: Section;
  word_rows?: Section;
  word_ids?: Section;
  target?: string;
  golden?: string;
}

interface Header {
  rows: number;
  place: Section;
  ops: string[];
  places: string[];
  words: string[];
  columns: ColumnHeader[];
}

export const RESULTS = ["pass", "warning", "error", "unmatched"] as const;
export type Result = (typeof RESULTS)[number];

export interface Table {
  rows: number;
  places: Int32Array; // of each row in the whole table
  columns: Column[];
  byKey: Map<string, Column>;
  results: Uint8Array; // by RESULTS
  opIds: Int32Array; // of the row's own name
  ops: string[];
  sequence: Uint32Array; // rows in the order of execution, as far as the dump tells it
  isParameter(row: number): boolean;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const values = new Uint8Array(128);
  for (let i = 0; i < alphabet.length; i++) {
    values[alphabet.charCodeAt(i)] = i;
  }
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const value = (at: number): number => values[text.charCodeAt(at)] ?? 0;
  let to = 0;
  for (let from = 0; from < text.length; from += 4) {
    const group = (value(from) << 18) | (value(from + 1) << 12) | (value(from + 2) << 6) | value(from + 3);
    bytes[to++] = group >> 16;
    bytes[to++] = (group >> 8) & 255; // beyond the end nothing is written
    bytes[to++] = group & 255;
  }
  return bytes;
}

async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function addUp(steps: Int32Array): Int32Array {
  let last = 0;
  for (let i = 0; i < steps.length; i++) {
    last += steps[i] ?? 0;
    steps[i] = last;
  }
  return steps;
}

class Reader {
  readonly header: Header;
  private readonly start: number;

  constructor(private readonly bytes: ArrayBuffer) {
    const length = new DataView(bytes).getUint32(0, true);
    this.header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as Header;
    this.start = Math.ceil((4 + length) / 8) * 8;
  }

  ids(section: Section | undefined): Int32Array {
    const [offset, length] = section ?? [0, 0];
    return addUp(new Int32Array(this.bytes, this.start + offset, length / 4));
  }

  numbers(section: Section | undefined): Float64Array {
    const [offset, length] = section ?? [0, 0];
    return new Float64Array(this.bytes, this.start + offset, length / 8);
  }
}

function column(header: ColumnHeader, reader: Reader, byKey: Map<string, Column>): Column {
  const { ops, places, words } = reader.header;
  if (header.kind === "name") {
    return new NameColumn(header.key, header.title, ops, reader.ids(header.ids), places, reader.ids(header.suffix_ids));
  }
  if (header.kind === "text") {
    return new TextColumn(header.key, header.title, header.texts ?? [], reader.ids(header.ids));
  }
  const exceptions = new Words(words, reader.ids(header.word_rows), reader.ids(header.word_ids));
  if (header.kind === "number") {
    return new NumberColumn(header.key, header.title, reader.numbers(header.numbers), exceptions);
  }
  const side = (key: string | undefined): NumberColumn => {
    const found = byKey.get(key ?? "");
    if (!(found instanceof NumberColumn)) {
      throw new Error(`column ${header.key} is made of a column that is not there`);
    }
    return found;
  };
  return new DerivedColumn(header.key, header.title, header.kind, side(header.target), side(header.golden), exceptions);
}

export async function readTable(text: string): Promise<Table> {
  const reader = new Reader(await inflate(fromBase64(text)));
  const { header } = reader;
  const byKey = new Map<string, Column>();
  // Derived columns stand before the numbers that they are made of.
  const derived = (each: ColumnHeader): boolean => each.kind === "difference" || each.kind === "relative";
  for (const each of header.columns.filter((each) => !derived(each))) {
    byKey.set(each.key, column(each, reader, byKey));
  }
  for (const each of header.columns.filter(derived)) {
    byKey.set(each.key, column(each, reader, byKey));
  }
  for (const key of ["order", "distance"]) {
    const found = byKey.get(key);
    if (found instanceof NumberColumn && found.isEmpty()) {
      byKey.delete(key); // the dumps do not tell it
    }
  }
  const columns = header.columns.map((each) => byKey.get(each.key)).filter((each) => each !== undefined);
  const results = new Uint8Array(header.rows);
  const resultColumn = byKey.get("result");
  if (resultColumn instanceof TextColumn) {
    const numbers = resultColumn.texts.map((each) => Math.max(0, RESULTS.indexOf(each as Result)));
    for (let row = 0; row < header.rows; row++) {
      results[row] = numbers[resultColumn.ids[row] ?? 0] ?? 0;
    }
  }
  const { opIds, ops } = ownNames(header, byKey);
  const isParameter = parameters(header, byKey);
  return { rows: header.rows, places: reader.ids(header.place), columns, byKey, results, opIds, ops, sequence: sequenceOf(header.rows, byKey), isParameter };
}

function parameters(header: Header, byKey: Map<string, Column>): (row: number) => boolean {
  const names = byKey.get("target_name");
  const is = header.places.map((place) => place.startsWith(".parameters"));
  return (row) => names instanceof NameColumn && (is[names.suffixIds[row] ?? 0] ?? false);
}

/** Rows of a call's inputs stand where it began, those of its outputs where it ended; rows without a place come last. */
function sequenceOf(rows: number, byKey: Map<string, Column>): Uint32Array {
  const order = byKey.get("order");
  const keys = new Float64Array(rows);
  const room = 2 ** Math.ceil(Math.log2(Math.max(2, rows)));
  const last = 2 ** 53 / room - 1;
  if (order instanceof NumberColumn) {
    for (let row = 0; row < rows; row++) {
      const moment = order.numbers[row] ?? NaN;
      keys[row] = Math.min(Number.isNaN(moment) ? last : moment, last) * room + row;
    }
    keys.sort();
    return new Uint32Array(keys.map((key) => key % room));
  }
  return new Uint32Array(rows).map((_, row) => row);
}

// The name of a row of golden alone is golden's.
function ownNames(header: Header, byKey: Map<string, Column>): { opIds: Int32Array; ops: string[] } {
  const target = byKey.get("target_name");
  const golden = byKey.get("golden_name");
  const opIds = new Int32Array(header.rows);
  if (target instanceof NameColumn) {
    const missing = header.ops.indexOf("N/A");
    for (let row = 0; row < header.rows; row++) {
      const own = target.opIds[row] ?? 0;
      opIds[row] = own === missing && golden instanceof NameColumn ? (golden.opIds[row] ?? own) : own;
    }
  }
  return { opIds, ops: header.ops };
}
