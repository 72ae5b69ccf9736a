import { readFileSync } from "node:fs";
import { METRICS } from "../metrics-table.js";

/** A file of the repository, by its path from the root. */
export const repositoryFile = (path: string): string =>
  readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

/** Names in a query that the table of metrics does not have. */
export function unknownMetrics(query: string): string[] {
  const names = query.match(/\bdrover_[a-z0-9_]+/g) ?? [];
  return names.filter((name) => !Object.hasOwn(METRICS, name.replace(/_(?:bucket|sum|count)$/, "")));
}

/** Whether docs/command-line.md knows a command, by its first words. */
export function isKnownCommand(command: string): boolean {
  const [, name = "", verb = ""] = /(?:^|\s)drover ([a-z-]+)(?: ([a-z]+))?/.exec(command) ?? [];
  const row = repositoryFile("docs/command-line.md")
    .split("\n")
    .find((line) => line.startsWith(`| [\`${name}\`]`));
  return row !== undefined && (row.includes(`\`${verb}\``) || !row.replace(/^\|[^|]*\|/, "").includes("`"));
}
