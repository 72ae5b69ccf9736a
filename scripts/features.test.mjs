import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { featuresOf, middlewareNames } from "./features/options.mjs";
import { rowsOf } from "./features/page.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

it("the page has a row for every option and every value in the packages' types", () => {
  const documented = new Set(rowsOf(root).map(({ feature }) => feature));
  expect(featuresOf(root).filter((feature) => !documented.has(feature))).toEqual([]);
  expect(middlewareNames(root).length).toBeGreaterThanOrEqual(19);
});

it("every row names a test that exists, and says how the feature is used", () => {
  for (const { feature, use, file, test } of rowsOf(root)) {
    expect(use, feature).not.toBe("");
    // A test of a table has a name with places in it; its fixed words are looked for.
    const text = readFileSync(join(root, file), "utf8");
    const words = test.split(/[^\w]+/).filter((word) => word.length > 3);
    for (const word of words) expect(text, `${feature}: ${test}`).toContain(word);
  }
});
