import type { InterruptQuestion } from "@drover/contracts";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agentOf } from "../fixture/in-memory.js";
import { resumeValue, validateAnswer } from "./validate-answer.js";

const question: InterruptQuestion = {
  interruptId: "i",
  actions: [
    { name: "pay", args: { amount: 1 }, description: "", allowedDecisions: ["approve", "edit"] },
    { name: "mail", args: {}, description: "", allowedDecisions: ["approve", "reject"] },
  ],
  value: { actionRequests: [{ id: "c1" }, { id: "c2" }], reviewConfigs: [] },
};
const approve = { type: "approve" };
const edit = (args: unknown, name = "pay") => ({ type: "edit", editedAction: { name, args } });

describe("an answer that is refused before anything is stored", () => {
  it.each([
    [
      "too few decisions",
      { decisions: [approve] },
      /about 2 tool calls and the answer has 1 decisions/,
      "DECISION_COUNT",
    ],
    ["too many", { decisions: [approve, approve, approve] }, /has 3 decisions/, "DECISION_COUNT"],
    ["none", { decisions: [] }, /decisions/],
    ["a value for tool calls", { value: true }, /answer it with \{ decisions \}/],
    ["an unknown type", { decisions: [approve, { type: "aprove" }] }, /decisions/],
    [
      "one that is not allowed",
      { decisions: [approve, edit({}, "mail")] },
      /decision 2 is 'edit'; .* approve, reject/,
      "DECISION_NOT_ALLOWED",
    ],
    ["an edit without arguments", { decisions: [{ type: "edit" }, approve] }, /The answer/],
    ["an unknown key", { decisions: [{ type: "approve", sure: 1 }, approve] }, /The answer/],
    ["no object", "yes", /The answer/],
  ])("%s", (_, answer, message, code = "INVALID_DECISION") => {
    expect(() => validateAnswer(question, answer)).toThrow(message);
    expect(() => validateAnswer(question, answer)).toThrow(expect.objectContaining({ code }));
  });

  it("decisions for a plain question", () => {
    const plain = { actions: null };
    expect(() => validateAnswer(plain, { decisions: [approve] })).toThrow(/a plain one/);
    expect(validateAnswer(plain, { value: { any: "thing" } })).toEqual({ value: { any: "thing" } });
  });

  it("edited arguments that do not fit the tool, and tools that are not there", async () => {
    const pay = tool(() => "ok", { name: "pay", description: "", schema: z.object({ amount: z.number() }) });
    const mail = tool(() => "ok", {
      name: "mail",
      description: "",
      schema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    });
    const agent = await agentOf({ model: fakeModel(), tools: [pay, mail] });
    const check = (decision: unknown) =>
      validateAnswer(
        { actions: [{ name: "pay", args: {}, description: "", allowedDecisions: ["edit"] }] },
        { decisions: [decision] },
        agent,
      );
    expect(() => check(edit({ amount: "much, 4111 1111 1111 1111" }))).toThrow(/amount: .*number/);
    expect(() => check(edit({ amount: "4111 1111 1111 1111" }))).not.toThrow(/4111/);
    expect(() => check(edit({}, "mail"))).toThrow(/do not fit 'mail'/);
    expect(() => check(edit({}, "pray"))).toThrow(/the agent has: pay, mail/);
    expect(check(edit({ amount: 3 }))).toEqual({ decisions: [edit({ amount: 3 })] });
  });
});

it("gives the graph decisions with the ids of their calls, or the value", () => {
  const answer = validateAnswer(question, { decisions: [approve, { type: "reject", message: "no" }] });
  expect(resumeValue(question, answer)).toEqual({
    decisions: [
      { type: "approve", toolCallId: "c1" },
      { type: "reject", message: "no", toolCallId: "c2" },
    ],
  });
  expect(resumeValue({ ...question, actions: null, value: "?" }, { value: 5 })).toBe(5);
});
