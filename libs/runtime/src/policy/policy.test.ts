import { tool } from "langchain";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { delayBefore } from "./backoff.js";
import { type Policy, parsePolicy } from "./policy.js";
import { isRetried } from "./retry-on.js";

const rates = tool(() => "1", { name: "rates", description: "", schema: z.object({}) });

it("takes PII rules as data, as a RegExp and as a function", () => {
  const detect = (text: string) => [{ start: 0, end: text.length }];
  const { pii } = parsePolicy({
    pii: [
      { type: "email" },
      { type: "nik", detector: /\b\d{16}\b/, strategy: "mask" },
      { type: "ssn", detector: detect },
    ],
  } satisfies Policy);
  expect(pii).toMatchObject([
    {
      type: "email",
      strategy: "redact",
      applyToInput: true,
      applyToOutput: false,
      applyToToolResults: false,
    },
    { type: "nik", detector: /\b\d{16}\b/, strategy: "mask" },
    { type: "ssn", detector: detect },
  ]);
});

it.each([
  ["an unknown strategy", { type: "email", strategy: "hide" }, /pii\.0\.strategy/],
  ["an unknown key", { type: "email", apply: true }, /"apply"/],
  ["a detector that is none", { type: "email", detector: 5 }, /pii\.0\.detector: is a pattern, a RegExp or/],
  ["no type", {}, /pii\.0\.type/],
])("refuses a PII rule with %s", (_, rule, message) => {
  expect(() => parsePolicy({ pii: [rule] })).toThrow(message);
});

it("takes tools by themselves, and error classes", () => {
  class Busy extends Error {
    override name = "Busy";
  }
  const { toolRetry, toolEmulator } = parsePolicy({
    toolRetry: [{ tools: [rates], retryOn: [Busy, TypeError] }],
    toolEmulator: { tools: [rates] },
  } satisfies Policy);
  expect(toolRetry[0]?.tools).toEqual(["rates"]);
  expect(toolEmulator?.tools).toEqual(["rates"]);
  const retryOn = toolRetry[0]?.retryOn ?? [];
  const copy = Object.assign(new Error("busy"), { name: "Busy" });
  expect(
    [new Busy(), new TypeError(), copy, new RangeError()].map((error) => isRetried(retryOn, error)),
  ).toEqual([true, true, true, false]);
  expect(() => parsePolicy({ toolRetry: [{ retryOn: [] }] })).toThrow(/toolRetry\.0\.retryOn: is a function/);
});

it("a backoffFactor of 0 waits equally long each time", () => {
  const backoff = { initialDelayMs: 2000, backoffFactor: 0, maxDelayMs: 60_000, jitter: false };
  expect([1, 2, 3].map((retry) => delayBefore(retry, backoff))).toEqual([2000, 2000, 2000]);
  expect([1, 2, 9].map((retry) => delayBefore(retry, { ...backoff, backoffFactor: 3 }))).toEqual([
    2000, 6000, 60_000,
  ]);
});

it("takes the older names of a summarisation and warns", () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const { summarization } = parsePolicy({
    summarization: { maxTokensBeforeSummary: 500, messagesToKeep: 4 },
  } satisfies Policy);
  expect(summarization).toMatchObject({ trigger: { tokens: 500 }, keep: { messages: 4 } });
  expect(warn.mock.calls.map(([text]) => text)).toEqual([
    "maxTokensBeforeSummary is now trigger: { tokens }.",
    "messagesToKeep is now keep: { messages }.",
  ]);
  expect(
    parsePolicy({ summarization: { messagesToKeep: 4, keep: { tokens: 9 } } }).summarization?.keep,
  ).toEqual({ tokens: 9 });
  warn.mockRestore();
});

it.each([
  ["two ways to keep", { keep: { tokens: 5, messages: 5 } }, /keep: set one of/],
  ["a trigger without a number", { trigger: {} }, /trigger/],
  ["a share above all", { trigger: { fraction: 1.5 } }, /trigger/],
  ["a prompt without its place", { summaryPrompt: "Sum up." }, /summaryPrompt/],
])("refuses a summarisation with %s", (_, summarization, message) => {
  expect(() => parsePolicy({ summarization })).toThrow(message);
});
