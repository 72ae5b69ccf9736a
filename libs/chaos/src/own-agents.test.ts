import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const page = readFileSync(join(repository, "docs/reliability.md"), "utf8");

/** The files that the page shows: a block of code begins with its file's name, and there is one of JSON. */
function shown(): Map<string, string> {
  const chapter = page.slice(page.indexOf("## Your own agents"));
  const blocks = chapter.matchAll(/^```(?:js\n\/\/ (\S+)|json)\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name = "langgraph.json", code = ""]) => [name, code]));
}

it("the page on reliability shows a fleet of one's own agents that is disturbed and breaks no promise", async () => {
  const drover = join(repository, ".drover");
  mkdirSync(drover, { recursive: true });
  // Where the packages are found that it imports.
  const folder = mkdtempSync(join(drover, "own-agents-"));
  const files = shown();
  expect([...files.keys()]).toEqual(["agents.mjs", "langgraph.json", "chaos.mjs"]);
  for (const [name, code] of files) writeFileSync(join(folder, name), code);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ["chaos.mjs", "12"], { cwd: folder });
    expect(stdout).toMatch(/success: [1-9]/);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);
