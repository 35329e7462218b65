// SPDX-License-Identifier: Apache-2.0
// Drives Chromium for the tests: a JSON object a line comes in (a method of a page and its arguments), an answer a line goes out.
// Usage: node browser.mjs FOLDER_OF_PLAYWRIGHT_CORE PATH_OF_CHROMIUM
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [, , library, program] = process.argv;
const { chromium } = createRequire(import.meta.url)(library);
// Tests run as root in containers, where Chromium's own sandbox cannot start.
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] });
let page = null;
let told = { errors: [], requests: [], refused: [] };

const methods = {
  async open({ url, settings }) {
    await page?.context().close();
    const context = await browser.newContext({ viewport: { width: 1500, height: 1000 }, ...settings });
    page = await context.newPage();
    told = { errors: [], requests: [], refused: [] };
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) {
        told.errors.push(message.text());
      }
    });
    page.on("pageerror", (error) => told.errors.push(String(error)));
    page.on("request", (request) => told.requests.push(request.url()));
    page.on("requestfailed", (request) => told.refused.push(request.url()));
    page.on("dialog", (dialog) => {
      told.errors.push(`dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    const start = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.waitForSelector("#page:not([aria-busy])", { timeout: 60000 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    return (performance.now() - start) / 1000;
  },
  told: async () => told,
  evaluate: async ({ code }) => page.evaluate(code),
  click: async ({ selector, options }) => page.click(selector, { timeout: 5000, ...options }),
  fill: async ({ selector, value }) => page.fill(selector, value, { timeout: 5000 }),
  choose: async ({ selector, value }) => page.selectOption(selector, value, { timeout: 5000 }),
  press: async ({ selector, key }) => page.press(selector, key, { timeout: 5000 }),
  hover: async ({ selector, options }) => page.hover(selector, { timeout: 5000, ...options }),
  drag: async ({ from, to }) => {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(...to, { steps: 5 });
    await page.mouse.up();
  },
  // Asked from here: the page's policy forbids code that is made from text.
  wait: async ({ code }) => {
    const start = performance.now();
    while (!(await page.evaluate(code))) {
      if (performance.now() - start > 10000) {
        throw new Error(`never came true: ${code}`);
      }
      await new Promise((done) => setTimeout(done, 10));
    }
  },
  text: async ({ selector }) => page.locator(selector).allInnerTexts(),
  media: async (media) => page.emulateMedia(media),
  picture: async ({ path, full }) => {
    await page.screenshot({ path, fullPage: full });
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { method, ...given } = JSON.parse(line);
  let answer = {};
  try {
    answer = { value: (await methods[method](given)) ?? null };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
