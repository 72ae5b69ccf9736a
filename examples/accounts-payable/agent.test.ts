import { describeAgent, loadDefinition } from "@drover/runtime";
import { describe, expect, it } from "vitest";
import { agent } from "./agent.js";
import { needsApproval } from "./approval.js";
import { closedPeriod } from "./closed-period.js";

const request = (args: Record<string, unknown>, context: unknown = undefined) =>
  ({ toolCall: { name: "post_journal_entry", args }, runtime: { context } }) as never;
const context = { userId: "u-17", company: "PT Contoh", closedUntil: new Date("2026-08-31") };
const lines = (debit: number) => [
  { account: "6100", debit },
  { account: "2100", credit: debit },
];

it("loads without a key", async () => {
  expect(await loadDefinition(agent, {})).toMatchObject({ name: "accounts-payable", version: "1" });
});

describe("the guard of closed periods", () => {
  const guard = (date: unknown) => closedPeriod(request({ posting_date: date }, context));

  it("refuses a date up to the last closed day, and tells the model what to do", () => {
    expect(guard("2026-08-31")).toBe(
      "Posting date 2026-08-31 falls in a closed period (closed until 2026-08-31). Ask the user for a date in an open period. Do not retry with the same date.",
    );
    expect(guard("2026-09-01")).toBeUndefined();
    expect(guard("yesterday")).toMatch(/is not a date/);
  });

  it("lets nothing pass without the context", () => {
    expect(() => closedPeriod(request({ posting_date: "2026-09-01" }))).toThrow(/expected object/);
  });
});

it("asks finance from fifty million rupiah on", () => {
  expect(needsApproval(request({ lines: lines(49_999_999) }))).toBe(false);
  expect(needsApproval(request({ lines: lines(50_000_000) }))).toBe(true);
  expect(needsApproval(request({ lines: [{ debit: "many" }] }))).toBe(true);
  expect(needsApproval(request({}))).toBe(false);
});

it("does everything in the order that its guardrails need", async () => {
  const { behaviours, settings } = describeAgent(await loadDefinition(agent, {}));
  expect(behaviours.map(({ moment, name }) => `${moment}: ${name}`)).toEqual([
    "around the model: fallback",
    "around the model: model retry",
    "around the model: limit of model calls",
    "around the model: PII rules",
    "after the model: guards",
    "after the model: limits of tool calls",
    "after the model: approval",
    "around a tool: guards",
    "around a tool: approval",
    "around a tool: tool retry",
    "around a tool: tool errors",
    "around a tool: once",
    "around a tool: limits of tool calls",
    "around a tool: PII rules",
  ]);
  const inEffect = Object.fromEntries(settings.map(({ path, value }) => [path, value]));
  expect(inEffect).toMatchObject({
    "modelCalls.onLimit": "end",
    "modelRetry.onFailure": "error",
    "toolRetry.0.onFailure": "continue",
    "toolCalls.2.onLimit": "error",
    "toolErrors.default": "message",
  });
});
