import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { scoreFields } from "@drover/documents";
import { OfflineChatModel } from "@drover/runtime";
import { expect, it } from "vitest";

const data = fileURLToPath(new URL("../../../shared/data/receipts/", import.meta.url));

interface Truth {
  id: string;
  [field: string]: unknown;
}

/** The share of right fields that the rules must not fall below. */
const FLOORS = { company: 0.9, date: 0.97, address: 0.84, total: 0.94 };

it("reads the real receipts well enough, without having seen the truth", async () => {
  expect(
    existsSync(`${data}truth.jsonl`),
    `The receipts with their truth are missing: expected ${data}truth.jsonl and ${data}documents/*.txt.`,
  ).toBe(true);
  const truths = readFileSync(`${data}truth.jsonl`, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Truth);
  expect(truths).toHaveLength(626);

  const model = new OfflineChatModel({ rules: "receipts" });
  const right: Record<string, number> = {};
  for (const truth of truths) {
    const answer = await model.invoke(readFileSync(`${data}documents/${truth.id}.txt`, "utf8"));
    for (const [field, isRight] of Object.entries(scoreFields(JSON.parse(answer.text), truth))) {
      right[field] = (right[field] ?? 0) + (isRight ? 1 : 0);
    }
  }
  for (const [field, floor] of Object.entries(FLOORS)) {
    expect((right[field] ?? 0) / truths.length, `share of right values of ${field}`).toBeGreaterThan(floor);
  }
});
