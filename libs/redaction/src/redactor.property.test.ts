import { BUILT_IN_PII_TYPES, parsePiiRules } from "@drover/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BUILT_IN_DETECTORS, createRedactor } from "./index.js";
import { resolveOverlaps } from "./overlap.js";

const SEED = 2_612;
const piece = fc.constantFrom(
  "bob@example.com",
  "4111 1111 1111 1111",
  "TEL: 03-40210276",
  "10.0.0.1",
  "fe80::1",
  "https://x.io/a?b=c@d.io",
  "GB82WEST12345698765432",
  "00:1a:2b:3c:4d:5e",
  "123-45-6789",
  "3201011507900001",
  " ",
  ",",
  "\n",
  "-",
  ".",
  "x",
  "7",
  "+",
  "(",
  "[REDACTED_EMAIL]",
);
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));

describe("any text", () => {
  it.each(["redact", "hash"] as const)("has nothing left to %s after the first time", (strategy) => {
    const rules = BUILT_IN_PII_TYPES.map((type) => ({ type, strategy, everywhere: true }));
    const redactor = createRedactor({ rules, hashKey: "one tenant's own key" });
    fc.assert(
      fc.property(text, (input) => {
        const once = redactor.text(input, "output");
        expect(redactor.text(once, "output")).toBe(once);
      }),
      { seed: SEED, numRuns: 600 },
    );
  });

  it("is the same alone, in a message, under a key and in JSON", () => {
    const rules = parsePiiRules(
      BUILT_IN_PII_TYPES.map((type) => ({ type })),
      { everywhereByDefault: true },
    );
    const redactor = createRedactor({ rules });
    fc.assert(
      fc.property(text, (input) => {
        const alone = redactor.text(input, "output");
        expect(
          redactor.value({ messages: [{ role: "assistant", content: input }] }, "event").messages[0]?.content,
        ).toBe(alone);
        expect(redactor.value({ note: [input] }, "memory").note[0]).toBe(alone);
        expect(JSON.parse(redactor.text(JSON.stringify({ note: input }), "tool_args"))).toEqual({
          note: alone,
        });
      }),
      { seed: SEED, numRuns: 400 },
    );
  });

  it("keeps no character that a detector found", () => {
    const match = fc
      .tuple(fc.nat(40), fc.integer({ min: 1, max: 12 }), fc.nat(3))
      .map(([start, length, order]) => ({
        start,
        end: start + length,
        order,
        strategy: (["mask", "hash", "redact", "block"] as const)[order] ?? "mask",
      }));
    fc.assert(
      fc.property(fc.array(match, { maxLength: 10 }), (matches) => {
        const winners = resolveOverlaps(matches, 60);
        for (const { start, end } of matches) {
          for (let at = start; at < end; at++) {
            expect(winners.some(({ cover }) => cover.start <= at && at < cover.end)).toBe(true);
          }
        }
        for (const [i, { cover }] of winners.entries()) {
          expect(cover.start).toBeGreaterThanOrEqual(winners[i - 1]?.cover.end ?? 0);
        }
      }),
      { seed: SEED, numRuns: 600 },
    );
  });

  it("is looked through by a detector for every type that has one", () => {
    expect([...BUILT_IN_DETECTORS.keys()]).toEqual([...BUILT_IN_PII_TYPES]);
  });
});
