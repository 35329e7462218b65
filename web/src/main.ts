// SPDX-License-Identifier: Apache-2.0
// Starts the page. What goes wrong is told on it, not only in the console.
import { App } from "./app";
import { element } from "./dom";
import { readDescription } from "./model";

async function start(): Promise<void> {
  const root = document.getElementById("page");
  if (root === null) {
    return;
  }
  try {
    await new App(root, readDescription()).draw();
  } catch (error) {
    root.append(element("p", { class: "failure", role: "alert" }, error instanceof Error ? error.message : String(error)));
    throw error;
  }
}

void start();
