import { isDroverError } from "@drover/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor, type PiiRule } from "./index.js";
import { patternForRe2 } from "./re2-syntax.js";

const redact = (rule: PiiRule, text: string) =>
  createRedactor({ rules: [rule], detectorTimeoutMs: 100 }).text(text, "input");

function errorOf(task: () => unknown): Error {
  try {
    task();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

describe("a pattern of one's own", () => {
  it.each([
    [{ type: "api_key", detector: "sk-[a-zA-Z0-9]{4}" }, "key sk-abcd.", "key [REDACTED_API_KEY]."],
    [
      { type: "nik", detector: String.raw`\b\d{16}\b`, strategy: "mask" },
      "1234567890123456",
      "************3456",
    ],
    [{ type: "word", detector: /secret/gi }, "Secret SECRET", "[REDACTED_WORD] [REDACTED_WORD]"],
    [{ type: "word", detector: "secret", flags: "i" }, "Secret", "[REDACTED_WORD]"],
    [{ type: "gap", detector: String.raw`a\sb` }, "a\u00a0b", "[REDACTED_GAP]"],
    [{ type: "line", detector: /^x$/m }, "a\r\nx\r\nb", "a\r\n[REDACTED_LINE]\r\nb"],
    [{ type: "behind", detector: /(?<=id:)\d+/ }, "id:42", "id:[REDACTED_BEHIND]"],
    [{ type: "named", detector: /(?<year>\d{4})\u002d[\u0041-\x5a]/ }, "2024-A", "[REDACTED_NAMED]"],
    [{ type: "greek", detector: /\p{Script=Greek}+/u }, "α β", "[REDACTED_GREEK] [REDACTED_GREEK]"],
    [{ type: "astral", detector: /\ud83d\ude00/ }, "x😀y", "x[REDACTED_ASTRAL]y"],
  ] as [PiiRule, string, string][])("%j", (rule, text, expected) => {
    expect(redact(rule, text)).toBe(expected);
  });

  it.each([
    ["(?=a)b", "lookahead"],
    ["(?!a)b", "lookahead"],
    [String.raw`(a)\1`, "backreference"],
    [String.raw`(?<n>a)\k<n>`, "backreference"],
    ["a*", "empty text"],
    ["|a", "empty text"],
    [String.raw`\b`, "empty text"],
    ["(", "not a valid regular expression"],
    ["a{1,5000}", "linear time"],
    [String.raw`\Aa`, "the escape"],
  ])("refuses %s and says why", (detector, why) => {
    const error = errorOf(() => createRedactor({ rules: [{ type: "mine", detector }] }));
    expect(isDroverError(error, "INVALID_POLICY")).toBe(true);
    expect(error.message).toContain('"mine"');
    expect(error.message).toContain(why);
  });

  it("refuses flags that mean something else here", () => {
    expect(errorOf(() => redact({ type: "mine", detector: /a/y }, "a")).message).toContain("the flag y");
    expect(errorOf(() => redact({ type: "email", flags: "i" }, "a")).message).toContain("no detector");
  });

  it("passes where backtracking would take for ever", () => {
    const text = `${"a".repeat(50_000)}!`;
    expect(redact({ type: "mine", detector: /^(a+)+$/ }, text)).toBe(text);
  });

  it("cannot hang a worker by searching the rest of the text at each of its matches", () => {
    const started = performance.now();
    const error = errorOf(() => redact({ type: "mine", detector: "a.*z|a" }, "a".repeat(1 << 20)));
    expect(isDroverError(error, "PII_DETECTOR_FAILED")).toBe(true);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("finds what JavaScript's own engine finds", () => {
    const patterns = [
      /\s+/,
      /[^\s\w]/,
      /\S{2,}/,
      /[\S]x/,
      /a.b/,
      /a.b/s,
      /^b|c$/m,
      /[\]a-]+/,
      /\x61\u0062/,
      /[a-c[]+/,
      /(?:a|bc)+?/,
      /\w+\b/i,
      /[\b]/,
      /\cJ/,
    ];
    const text = fc.string({ unit: fc.constantFrom(..."abcABx[]-_ .\t\n\u00a0\u2028\b9é"), maxLength: 24 });
    for (const pattern of patterns) {
      const redactor = createRedactor({ rules: [{ type: "x", detector: pattern, strategy: "mask" }] });
      fc.assert(
        fc.property(text, (input) => {
          const flags = `${pattern.flags}g`;
          const expected = input.replace(new RegExp(pattern.source, flags), (match) => {
            const visible = Math.min(4, Math.floor(match.length / 2));
            return "*".repeat(match.length - visible) + match.slice(match.length - visible);
          });
          expect(redactor.text(input, "input"), `${pattern} over ${JSON.stringify(input)}`).toBe(expected);
        }),
        { seed: 7, numRuns: 200 },
      );
    }
  });

  it("is written for RE2 as it means in JavaScript", () => {
    expect(patternForRe2(String.raw`[^]\/é\-`, "")).toBe(String.raw`[\x00-\x{10ffff}]\/é\-`);
  });
});

describe("a function of one's own", () => {
  const matches = (content: string) =>
    [...content.matchAll(/\d{3}-\d{2}-\d{4}/g)].map((m) => ({
      text: m[0],
      start: m.index,
      end: m.index + m[0].length,
    }));

  it("may close over anything, and may answer out of order", () => {
    expect(redact({ type: "ssn", detector: matches, strategy: "redact" }, "a 123-45-6789 b")).toBe(
      "a [REDACTED_SSN] b",
    );
    const untidy = () => [
      { start: 3, end: 5 },
      { start: 0, end: 2 },
      { start: 1, end: 4 },
      { start: 2, end: 2 },
    ];
    expect(redact({ type: "x", detector: untidy }, "abcdef")).toBe("[REDACTED_X]f");
  });

  it.each([
    [
      "an endless loop",
      () => {
        for (;;);
      },
    ],
    [
      "a loop that catches",
      () => {
        for (;;)
          try {
            for (;;);
          } catch {}
      },
    ],
    [
      "a backtracking expression",
      (text: string) => [...text.matchAll(/^(a+)+$/g)].map((m) => ({ start: 0, end: m[0].length })),
    ],
  ])("is stopped in %s", (_, detector) => {
    const started = performance.now();
    const error = errorOf(() =>
      redact({ type: "mine", detector: detector as () => [] }, `${"a".repeat(60)}!`),
    );
    expect(isDroverError(error, "PII_DETECTOR_FAILED")).toBe(true);
    expect(error.message).toMatch(/"mine" took longer than 101 ms over 61 characters/);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(redact({ type: "email" }, "a@x.io")).toBe("[REDACTED_EMAIL]");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("bob@example.com");
      },
    ],
    ["is asynchronous", async () => []],
    ["answers nonsense", () => [{ start: 0, end: 99 }]],
    ["answers nothing", () => undefined],
  ])("that %s lets no text through and quotes none", (_, detector) => {
    const error = errorOf(() =>
      redact({ type: "mine", detector: detector as unknown as () => [] }, "bob@example.com"),
    );
    expect(isDroverError(error, "PII_DETECTOR_FAILED")).toBe(true);
    expect(`${error.message}${error.stack}${error.cause}`).not.toContain("bob@");
  });

  it("may use a redactor itself", () => {
    const inner = createRedactor({ rules: [{ type: "d", detector: () => [{ start: 0, end: 1 }] }] });
    const outer = (text: string) => (inner.text(text, "input").startsWith("[") ? [{ start: 1, end: 2 }] : []);
    expect(redact({ type: "x", detector: outer }, "abc")).toBe("a[REDACTED_X]c");
  });
});

describe("rules that cannot be", () => {
  it.each([
    [{ type: "passport" }, "no detector"],
    [{ type: "no way" }, "type"],
    [{ type: "email", strategy: "hash" }, "hashKey"],
    [{ type: "email", strategy: "shred" }, "strategy"],
    [{ type: "email", everywhere: true, except: ["file"] }, "everywhere and except"],
    [{ type: "email", except: ["log"] }, "except"],
    [{ type: "email", applyToEverything: true }, "applyToEverything"],
  ])("%j", (rule, why) => {
    const error = errorOf(() => createRedactor({ rules: [rule as unknown as PiiRule] }));
    expect(isDroverError(error, "INVALID_POLICY")).toBe(true);
    expect(error.message).toContain(why);
  });
});
