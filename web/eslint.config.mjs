// SPDX-License-Identifier: Apache-2.0
// The rules of the page's TypeScript: type-checked ones, and none of the ways in which text becomes markup.
import js from "@eslint/js";
import tseslint from "typescript-eslint";

const markup = ["innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln"].map((property) => ({
  property,
  message: "Text reaches the page as text: textContent.",
}));

export default tseslint.config(
  { ignores: ["node_modules/"] },
  js.configs.recommended,
  {
    files: ["src/**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "no-restricted-properties": ["error", ...markup],
      "no-eval": "error",
      "max-lines": ["error", 400],
      // uPlot's enums are declarations without values: numbers stand in their place.
      "@typescript-eslint/no-unsafe-enum-assignment": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    files: ["*.mjs", "tests/*.mjs"],
    languageOptions: {
      globals: { console: "readonly", process: "readonly", URL: "readonly", Buffer: "readonly", document: "readonly", window: "readonly", performance: "readonly", navigator: "readonly", getComputedStyle: "readonly", localStorage: "readonly", requestAnimationFrame: "readonly", location: "readonly" },
    },
  },
);
