import { readFileSync } from "node:fs";
import { ERROR_CODES } from "@drover/contracts";
import { describe, expect, it } from "vitest";

const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
/** Heading of the third level → its text in one line. */
const sections = new Map(
  page
    .replace(/^## .*$/gm, "")
    .split(/^### /m)
    .slice(1)
    .map((section): [string, string] => {
      const [heading = "", ...lines] = section.trim().split("\n");
      return [heading, lines.join(" ").trim()];
    }),
);

describe("docs/errors.md", () => {
  it("has a section for each code, once, in the table's order, and none for any other", () => {
    expect(page.match(/^### .*$/gm)).toEqual(Object.keys(ERROR_CODES).map((code) => `### ${code}`));
  });

  it.each(Object.entries(ERROR_CODES))("%s: what it means, what to do, an example", (code, meaning) => {
    const text = sections.get(code) ?? "";
    expect(text.startsWith(meaning), `begin the section with: ${meaning}`).toBe(true);
    expect(text).toMatch(/\*\*What to do:\*\* \S.{20,} \*\*Example:\*\* `[^`]{10,}`$/);
  });
});
