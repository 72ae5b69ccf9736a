import { readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = "docs/features.md";

/**
 * The rows of docs/features.md. A row names one feature or several, how each is used, and the test that proves it.
 *
 * @returns {{ feature: string, use: string, file: string, test: string }[]}
 */
export function rowsOf(root) {
  const rows = [];
  let middleware = "";
  let file = "";
  for (const line of readFileSync(join(root, PAGE), "utf8").split("\n")) {
    middleware = /^## `(\w+)`/.exec(line)?.[1] ?? middleware;
    file = /^Tests: `([^`]+)`/.exec(line)?.[1] ?? file;
    const cells = line.split("|").map((cell) => cell.trim());
    if (cells.length !== 5 || !cells[1].startsWith("`")) continue;
    const [, features, use, test] = cells;
    for (const [, feature] of features.matchAll(/`([^`]+)`/g)) {
      rows.push({ feature: `${middleware}.${feature}`, use, file, test });
    }
  }
  return rows;
}
