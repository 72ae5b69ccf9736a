import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "./program.js";

const page = readFileSync(fileURLToPath(new URL("../../../docs/command-line.md", import.meta.url)), "utf8");

let program: Command;
beforeAll(async () => {
  program = await createProgram("all");
});

/** Commands that do something: `drover runs list`, not `drover runs`. */
function leaves(command: Command, path: string[] = []): { path: string[]; command: Command }[] {
  const below = command.commands.flatMap((sub) => leaves(sub, [...path, sub.name()]));
  return below.length > 0 ? below : [{ path, command }];
}

describe("every command", () => {
  it("explains itself with an example", () => {
    const silent = leaves(program).filter(({ command }) => {
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) });
      command.outputHelp();
      return !/Examples?:\n {2}\$ /.test(help);
    });
    expect(silent.map(({ path }) => path.join(" "))).toEqual([]);
  });

  it("stands in the documentation, with its options", () => {
    const sections = new Map(page.split(/^## /m).map((text) => [text.split("\n")[0] ?? "", text]));
    const missing = leaves(program).flatMap(({ path, command }) => {
      const section = sections.get(path[0] ?? "") ?? "";
      const words = [path.at(-1) ?? "", ...command.options.map((option) => option.long ?? "")];
      return words.filter((word) => !section.includes(word)).map((word) => `${path.join(" ")}: ${word}`);
    });
    expect(missing).toEqual([]);
  });
});

it("documents every exit code", async () => {
  const { EXIT } = await import("./exit-codes.js");
  for (const code of Object.values(EXIT)) expect(page).toContain(String(code));
});
