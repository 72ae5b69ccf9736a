import type { Redactor } from "@drover/contracts";
import { type BaseMessage, isHumanMessage } from "@langchain/core/messages";
import { tool } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, servicesInMemory, type TestServices } from "../fixture/in-memory.js";
import { type ProviderServer, startProviderServer } from "../testing/index.js";
import type { Policy } from "./policy.js";

let server: ProviderServer;
beforeEach(async () => {
  server = await startProviderServer({ script: [] });
});
afterEach(() => server.close());

const OPENAI = "openai:gpt-4o-mini";
const look = tool(() => "r".repeat(400), { name: "look", description: "Looks", schema: z.object({}) });
const rule = { trigger: { messages: 6 }, keep: { messages: 2 }, model: "anthropic:claude-haiku-4-5" };

/** The summariser is Claude, so that its requests are told apart. */
const ofSummarizer = () => server.requests.filter(({ api }) => api === "anthropic-messages");
const ofAgent = () => server.requests.filter(({ api }) => api !== "anthropic-messages");
const shown = (i: number) =>
  ofAgent()
    .at(i)
    ?.messages.map(({ role, text }) => `${role}: ${text.slice(0, 60)}`);

async function converse(policy: Policy, turns: number, services = servicesInMemory()) {
  const agent = await agentOf({ model: OPENAI, tools: [look], policy }, server.env);
  const outcomes = [];
  for (let i = 1; i <= turns; i++) {
    const activation = activationOf({ runId: `run-${i}`, input: `question ${i}` });
    outcomes.push(await execute(agent, activation, services));
  }
  return { services, outcomes, last: outcomes.at(-1) };
}

async function stored(services: TestServices): Promise<BaseMessage[]> {
  const tuple = await services.checkpointer.getTuple({ configurable: { thread_id: "thread-1" } });
  return tuple?.checkpoint.channel_values.messages as BaseMessage[];
}

const answering = (text: string) =>
  server.use((request) => ({
    text: request.api === "anthropic-messages" ? text : `answer ${request.number}`,
  }));

describe("summarisation", () => {
  it("shows the model what was asked, the summary and the newest messages; the thread keeps all", async () => {
    answering("SUM");
    const { services } = await converse({ summarization: rule }, 4);
    expect(shown(-1)).toEqual([
      "user: question 1",
      "user: Here is a summary of the conversation to date:\n\nSUM",
      "assistant: answer 3",
      "user: question 4",
    ]);
    expect((await stored(services)).filter(isHumanMessage)).toHaveLength(4);
    expect(ofSummarizer()).toHaveLength(1);
  });

  it("is made once and then serves until the history has grown again; the next contains the one before", async () => {
    server.use((request) => ({
      text:
        request.api === "anthropic-messages" ? `SUM ${ofSummarizer().length}` : `answer ${request.number}`,
    }));
    await converse({ summarization: { ...rule, trigger: { messages: 8 }, summaryPrefix: "So far:" } }, 7);
    expect(ofSummarizer()).toHaveLength(2);
    expect(JSON.stringify(ofSummarizer()[1]?.messages)).toContain("So far:\\n\\nSUM 1");
    expect(shown(-1)?.slice(0, 2)).toEqual(["user: question 1", "user: So far:\n\nSUM 2"]);
  });

  it("takes a unit of the limit, is counted in the usage, and is not streamed", async () => {
    answering("SUM");
    const services = servicesInMemory();
    const { outcomes } = await converse({ summarization: rule, modelCalls: { thread: 5 } }, 4, services);
    expect(services.counters.taken.get("thread model")).toBe(5);
    expect(outcomes.at(-1)).toMatchObject({ kind: "completed", usage: { modelCalls: 2 } });
    const { last } = await converse({ summarization: rule, modelCalls: { thread: 5 } }, 1, services);
    expect(last).toMatchObject({ endedBy: "model_call_limit" });
    expect(JSON.stringify(services.events)).not.toContain("SUM");
  });

  it.each([
    ["fails", { status: 400 }],
    ["says nothing", { text: " " }],
  ])("keeps the history where the summariser %s", async (_, reply) => {
    server.use((request) => (request.api === "anthropic-messages" ? reply : { text: "fine" }));
    const policy = { summarization: rule, modelRetry: { maxRetries: 0 } };
    const { last } = await converse(policy, 4);
    expect(last).toMatchObject({ kind: "completed", output: "fine" });
    expect(shown(-1)).toHaveLength(7);
  });

  it("never parts a call from its answers, in the middle of a run, and keeps what the run was asked", async () => {
    let turns = 0;
    server.use((request) => {
      if (request.api === "anthropic-messages") return { text: "SUM" };
      turns += 1;
      if (turns > 5) return { text: "done" };
      return {
        toolCalls: [
          { name: "look", args: {} },
          { name: "look", args: {} },
        ],
      };
    });
    const { last } = await converse({ summarization: { ...rule, keep: { messages: 1 } } }, 1);
    expect(last).toMatchObject({ kind: "completed", output: "done" });
    expect(ofSummarizer().length).toBeGreaterThan(1);
    for (const { messages } of ofAgent()) {
      expect(messages[0]?.text).toBe("question 1");
      const roles = messages.map(({ role }) => role[0]).join("");
      // user, perhaps the summary, then whole groups of an answer with two calls and its two answers
      expect(roles).toMatch(/^u{1,2}(att)*$/);
    }
  });

  it("a context that is refused as too long is summarised, and the same model is asked again", async () => {
    let refused = 0;
    server.use((request) => {
      if (request.api === "anthropic-messages") return { text: "SUM" };
      const long = request.messages.length > 4;
      if (long) refused += 1;
      return long ? { status: 400, errorType: "context_length_exceeded" } : { text: "short enough" };
    });
    const { last } = await converse({ summarization: { model: rule.model } }, 4);
    expect(last).toMatchObject({ kind: "completed", output: "short enough" });
    expect(refused).toBeGreaterThan(0);
    expect(shown(-1)?.[0]).toBe("user: question 1");
  });

  it("a context that nothing can make shorter fails as it was", async () => {
    server.use((request) =>
      request.api === "anthropic-messages"
        ? { text: "SUM" }
        : { status: 400, errorType: "context_length_exceeded" },
    );
    const { last } = await converse({ summarization: { model: rule.model } }, 1);
    expect(last).toMatchObject({
      kind: "failed",
      error: { message: expect.stringContaining("longer than the model") },
    });
    expect(ofSummarizer()).toHaveLength(0);
  });

  it("by the agent's own model, and by its profile", async () => {
    server.use((request) => ({
      text: JSON.stringify(request.body).includes("<messages>") ? "SUM" : "x".repeat(4000),
    }));
    const summarization = { trigger: { fraction: 0.02 }, keep: { fraction: 0.005 } };
    const { last } = await converse({ summarization }, 4);
    expect(last).toMatchObject({ kind: "completed", usage: { modelCalls: 2 } });
  });

  it("a share of a context of unknown size is refused at load, and known by hand", async () => {
    const model = "offline:receipts";
    const summarization = { trigger: { fraction: 0.5 } };
    await expect(agentOf({ model, policy: { summarization } })).rejects.toThrow(
      /set summarization.maxInputTokens/,
    );
    await agentOf({ model, policy: { summarization: { ...summarization, maxInputTokens: 1000 } } });
  });

  it("neither the summariser nor the thread sees what the rules hide", async () => {
    const hide = (text: string) => text.replaceAll("question", "[hidden]");
    const redactor: Redactor = {
      text: hide,
      value: <T>(value: T) => {
        if (!Array.isArray(value)) return value;
        return value.map((message) =>
          isHumanMessage(message)
            ? Object.assign(Object.create(message), { content: hide(message.text) })
            : message,
        ) as T;
      },
    };
    server.use((request) => ({ text: request.api === "anthropic-messages" ? "a question" : "x" }));
    const { services } = await converse({ summarization: rule }, 4, servicesInMemory({ redactor }));
    expect(JSON.stringify(ofSummarizer()[0]?.body)).not.toContain("question 1");
    expect(JSON.stringify((await stored(services)).at(-1)?.response_metadata)).toContain("a [hidden]");
  });
});
