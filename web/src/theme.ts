// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system has it, or as chosen.
import { element } from "./dom";
import { text } from "./texts";

const THEMES = ["auto", "light", "dark"] as const;

export function themeChoice(changed: () => void): HTMLElement {
  const root = document.documentElement;
  const choice = element("select", { "aria-label": text("theme") });
  for (const theme of THEMES) {
    choice.append(element("option", { value: theme }, `${text("theme")}: ${text(`theme_${theme}`)}`));
  }
  choice.value = root.dataset.theme ?? "auto";
  choice.addEventListener("change", () => {
    root.dataset.theme = choice.value;
    changed();
  });
  return choice;
}
