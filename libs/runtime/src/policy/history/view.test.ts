import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  isToolMessage,
  ToolMessage,
} from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../policy.js";
import { isTriggered, keptCount, maxInputTokensOf, type SummarizationRule } from "./context-size.js";
import { summaryPrompt } from "./summary-prompt.js";
import { cutBefore, viewWith } from "./view.js";

/** A conversation of turns; each has so many tool calls in each of its answers. */
const conversation = fc
  .array(fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 6 }), { minLength: 1, maxLength: 6 })
  .map((turns) => {
    const messages: BaseMessage[] = [];
    const id = () => `m${messages.length}`;
    for (const [t, answers] of turns.entries()) {
      messages.push(new HumanMessage({ id: id(), content: `question ${t}` }));
      for (const calls of answers) {
        const tool_calls = Array.from({ length: calls }, (_, c) => ({
          id: `${id()}-${c}`,
          name: "x",
          args: {},
        }));
        messages.push(new AIMessage({ id: id(), content: "", tool_calls }));
        for (const call of tool_calls) {
          messages.push(new ToolMessage({ id: id(), content: "r", tool_call_id: call.id }));
        }
      }
    }
    return messages;
  });

describe("where a history is cut", () => {
  it("never between a call and its answers, always before the newest message, and never keeps fewer than asked", () => {
    fc.assert(
      fc.property(conversation, fc.integer({ min: 0, max: 30 }), (messages, kept) => {
        const cut = cutBefore(messages, kept);
        expect(cut).toBeLessThan(messages.length);
        const tail = messages.slice(cut);
        expect(tail.length).toBeGreaterThanOrEqual(Math.min(kept, messages.length));
        if (cut > 0) expect(isToolMessage(tail[0] as BaseMessage)).toBe(false);
      }),
    );
  });

  it("what was asked first and last is there, word for word", () => {
    fc.assert(
      fc.property(conversation, fc.integer({ min: 0, max: 30 }), (messages, kept) => {
        const cut = cutBefore(messages, kept);
        const upTo = messages[cut - 1]?.id;
        const view = upTo ? viewWith(messages, { text: "sum", upTo }, "So far:", 100).messages : messages;
        const questions = messages.filter((message) => message.type === "human");
        expect(view).toContain(questions[0]);
        expect(view).toContain(questions.at(-1));
      }),
    );
  });

  it("a request longer than the room for it keeps its beginning", () => {
    const messages = [
      new HumanMessage({ id: "a", content: "g".repeat(900) }),
      new AIMessage({ id: "b", content: "x" }),
    ];
    const view = viewWith(messages, { text: "sum", upTo: "a" }, "So far:", 100);
    expect(view.messages.map(({ text }) => text)).toEqual([`${"g".repeat(400)}\n[…]`, "So far:\n\nsum", "x"]);
    expect(view.standIns).toBe(2);
  });
});

const ruleOf = (rule: object) => parsePolicy({ summarization: rule }).summarization as SummarizationRule;
const one = () => 1;
const ninetyNine = async () => 99;
const ten = Array.from({ length: 10 }, (_, i) => new HumanMessage({ id: `${i}`, content: "x".repeat(40) }));

describe("when a history is summarised", () => {
  it.each([
    [{}, false],
    [{ trigger: { messages: 10 } }, true],
    [{ trigger: { messages: 11 } }, false],
    [{ trigger: { tokens: 100 } }, true],
    [{ trigger: { tokens: 101 } }, false],
    [{ trigger: { fraction: 0.5 } }, true],
    [{ trigger: { fraction: 0.6 } }, false],
    [{ trigger: { tokens: 100, messages: 11 } }, false],
    [{ trigger: [{ tokens: 101 }, { messages: 10 }] }, true],
    [{ trigger: { messages: 10 }, tokenCounter: one }, true],
    [{ trigger: { tokens: 100 }, tokenCounter: ninetyNine }, false],
  ])("%j", async (rule, expected) => {
    expect(await isTriggered(ruleOf(rule), ten, 200)).toBe(expected);
  });

  it.each([
    [{}, 20],
    [{ keep: { messages: 3 } }, 3],
    [{ keep: { tokens: 35 } }, 3],
    [{ keep: { fraction: 0.25 } }, 5],
  ])("keeps by %j", async (rule, expected) => {
    expect(await keptCount(ruleOf(rule), ten, 200)).toBe(expected);
  });

  it("by the model's profile, or by what the policy says of it", () => {
    const model = { profile: { maxInputTokens: 128_000 } };
    expect(maxInputTokensOf(ruleOf({}), model)).toBe(128_000);
    expect(maxInputTokensOf(ruleOf({ maxInputTokens: 8000 }), model)).toBe(8000);
    expect(maxInputTokensOf(ruleOf({}), {})).toBeUndefined();
  });
});

describe("what the summariser is sent", () => {
  it("the newest that fits, and the goal whatever fits", async () => {
    const messages = [new HumanMessage("the $& goal"), ...ten];
    const prompt = await summaryPrompt(
      ruleOf({ trimTokensToSummarize: 25, summaryPrompt: "<{messages}>" }),
      messages,
    );
    expect(prompt).toBe(`<Human: the $& goal\nHuman: ${"x".repeat(40)}\nHuman: ${"x".repeat(40)}>`);
  });

  it("the end of a message that alone is too long", async () => {
    const long = new AIMessage(`${"a".repeat(500)}end`);
    const prompt = await summaryPrompt(ruleOf({ trimTokensToSummarize: 5, summaryPrompt: "{messages}" }), [
      long,
    ]);
    expect(prompt).toBe(`${"a".repeat(17)}end`);
  });
});
