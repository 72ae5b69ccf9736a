import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { detectCreditCard } from "./detectors/credit-card.js";
import { detectPhone } from "./detectors/phone.js";
import { createRedactor } from "./index.js";
import type { Detector } from "./match.js";
import { plantedCard, plantedPhone } from "./testing/planted.js";

/** Real receipts, read in place: full of barcodes, registration numbers, dates and prices. */
const documents = fileURLToPath(new URL("../../../../shared/data/receipts/documents/", import.meta.url));
const names = readdirSync(documents).sort();
const texts = names.map((name) => readFileSync(documents + name, "utf8"));
const SEED = 20_181_225;

/** By type and document, the last four digits of the numbers that are there, checked by hand. */
function truthOf(type: string): Map<string, string[]> {
  const truth = new Map<string, string[]>();
  const lines = readFileSync(new URL("./testing/receipt-numbers.txt", import.meta.url), "utf8").split("\n");
  for (const line of lines) {
    const [numbers, files] = line.split(" | ");
    const [kind, ...endings] = (numbers ?? "").split(" ");
    if (kind === type) for (const file of (files ?? "").split(" ")) truth.set(`${file}.txt`, endings);
  }
  return truth;
}

describe.each([
  ["card", detectCreditCard, 2],
  ["phone", detectPhone, 620],
] as [string, Detector, number][])("%s numbers in 626 receipts", (type, detect, expected) => {
  const truth = truthOf(type);
  const found = names.map((_, i) =>
    detect(texts[i] ?? "", "").map(({ start, end }) =>
      (texts[i] ?? "").slice(start, end).replace(/\D/g, "").slice(-4),
    ),
  );

  it("raise at most 1 % false alarms, and miss at most 1 %", () => {
    expect(names).toHaveLength(626);
    const falseAlarms: string[] = [];
    const missed: string[] = [];
    names.forEach((name, i) => {
      const left = [...(truth.get(name) ?? [])];
      for (const ending of found[i] ?? []) {
        const at = left.indexOf(ending);
        if (at >= 0) left.splice(at, 1);
        else falseAlarms.push(`${name} ${ending}`);
      }
      missed.push(...left.map((ending) => `${name} ${ending}`));
    });
    const total = [...truth.values()].flat().length;
    expect(total).toBe(expected);
    expect(falseAlarms.length / total, falseAlarms.join(", ")).toBeLessThanOrEqual(0.01);
    expect(missed.length / total, missed.join(", ")).toBeLessThanOrEqual(0.01);
  });
});

describe.each([
  ["credit_card", plantedCard],
  ["phone", plantedPhone],
])("planted: %s", (type, planted) => {
  it("is always found, wherever it stands", () => {
    const redactor = createRedactor({ rules: [{ type }] });
    fc.assert(
      fc.property(
        planted,
        fc.nat(texts.length - 1),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (plant, document, where) => {
          const lines = (texts[document] ?? "").split("\n");
          lines.splice(Math.floor(where * lines.length), 0, plant);
          const clean = redactor.text(lines.join("\n"), "input");
          const isLeft = clean
            .replace(/[^\d\n]/g, "")
            .includes(plant.replace(/\d\d\/\d\d$/, "").replace(/\D/g, ""));
          expect(isLeft, plant).toBe(false);
        },
      ),
      { seed: SEED, numRuns: 3_000 },
    );
  });
});
