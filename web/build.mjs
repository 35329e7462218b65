// SPDX-License-Identifier: Apache-2.0
// Bundles the page into one HTML template: `node build.mjs` writes csrc/report/page/page.html, `node build.mjs FILE` writes FILE.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const place = (name) => fileURLToPath(new URL(name, import.meta.url));

async function bundle(entry) {
  const made = await build({
    entryPoints: [place(entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome103", "firefox113", "safari16.4"],
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  return made.outputFiles[0].text.trim();
}

const hash = (text) => createHash("sha256").update(text, "utf8").digest("base64");

const licence = readFileSync(place("node_modules/uplot/LICENSE"), "utf8").trim();
const script = `/*! The chart library is uPlot.\n${licence}\n*/\n${await bundle("src/main.ts")}`;
const style = await bundle("src/style.css");
for (const [name, text, end] of [["script", script, "</script"], ["style", style, "</style"]]) {
  // What stands inside these elements ends at the first such text, or changes its meaning after a comment's start.
  if (text.toLowerCase().includes(end) || text.includes("<!--")) {
    throw new Error(`the bundled ${name} holds ${end} or <!--: write it in another way`);
  }
}
const values = { script_hash: hash(script), style_hash: hash(style), script, style };
const page = readFileSync(place("page.html"), "utf8").replace(/\{(script_hash|style_hash|script|style)\}/g, (_, name) => values[name]);
const output = process.argv[2] ?? place("../csrc/report/page/page.html");
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, page);
