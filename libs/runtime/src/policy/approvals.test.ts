import type { Decision, InterruptQuestion, Outcome } from "@drover/contracts";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  isAIMessage,
  isToolMessage,
} from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { type AgentMiddleware, createMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resumeValue, validateAnswer } from "../answer/validate-answer.js";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, servicesInMemory, type TestServices } from "../fixture/in-memory.js";
import type { LoadedAgent } from "../load/loaded-agent.js";
import { withEditedCalls } from "./edited-message.js";
import type { Policy } from "./policy.js";

const pay = (amount: number, id = `pay${amount}`) => ({ name: "pay", args: { amount }, id });
const look = (id = "look") => ({ name: "look", args: {}, id });

function tools() {
  const paid: number[] = [];
  return {
    paid,
    tools: [
      tool(({ amount }) => `paid ${paid.push(amount)}`, {
        name: "pay",
        description: "",
        schema: z.object({ amount: z.number() }),
      }),
      tool(() => "seen", { name: "look", description: "", schema: z.object({}) }),
    ],
  };
}

interface Asked {
  agent: LoadedAgent;
  services: TestServices;
  paid: number[];
  model: ReturnType<typeof fakeModel>;
  outcome: Outcome;
}

async function ask(
  turns: { name: string; args: Record<string, unknown>; id: string }[][],
  policy: Policy,
  middleware: AgentMiddleware[] = [],
): Promise<Asked> {
  const model = fakeModel();
  for (const calls of turns) model.respondWithTools(calls);
  model.respond(new AIMessage("done"));
  const made = tools();
  const agent = await agentOf({ model, tools: made.tools, policy, middleware });
  const services = servicesInMemory();
  return { agent, services, model, paid: made.paid, outcome: await execute(agent, activationOf(), services) };
}

const questionsIn = (outcome: Outcome): InterruptQuestion[] => {
  if (outcome.kind !== "interrupted") throw new Error(`${outcome.kind}: ${JSON.stringify(outcome)}`);
  return outcome.questions;
};

/** Answers as the worker does: validated, by the interrupt's id, bound to the checkpoint that asked. */
async function decide(asked: Asked, decisions: Decision[], seq = 2): Promise<Outcome> {
  const [question] = questionsIn(asked.outcome);
  if (!question || asked.outcome.kind !== "interrupted") throw new Error("no question");
  const value = resumeValue(question, validateAnswer(question, { decisions }, asked.agent));
  const resume = { values: { [question.interruptId]: value }, checkpointId: asked.outcome.checkpointId };
  return execute(asked.agent, activationOf({ kind: "resume", seq, resume }), asked.services);
}

async function historyOf({ services }: Asked): Promise<BaseMessage[]> {
  const tuple = await services.checkpointer.getTuple({ configurable: { thread_id: "thread-1" } });
  return tuple?.checkpoint.channel_values.messages as BaseMessage[];
}
const answersIn = (messages: BaseMessage[]) =>
  Object.fromEntries(messages.filter(isToolMessage).map((m) => [m.tool_call_id, m.text]));

const approve: Decision = { type: "approve" };
const reject: Decision = { type: "reject", message: "no" };
const edit = (amount: number): Decision => ({
  type: "edit",
  editedAction: { name: "pay", args: { amount } },
});

describe("what is asked", () => {
  it("one question for all gated calls of an answer, in LangChain's shape", async () => {
    const { outcome, paid } = await ask([[pay(1), look(), pay(2)]], {
      approvals: { pay: { decisions: ["approve"], description: (call) => `Pay ${call.args.amount}?` } },
    });
    expect(questionsIn(outcome)).toMatchObject([
      {
        actions: [
          { name: "pay", args: { amount: 1 }, description: "Pay 1?", allowedDecisions: ["approve"] },
          { name: "pay", args: { amount: 2 }, description: "Pay 2?", allowedDecisions: ["approve"] },
        ],
        value: { actionRequests: [{ id: "pay1" }, { id: "pay2" }] },
      },
    ]);
    expect(paid).toEqual([]);
  });

  it("only what `when` says; one that throws asks", async () => {
    const policy = (when: () => boolean): Policy => ({ approvals: { pay: { when } } });
    const free = await ask(
      [[pay(1)]],
      policy(() => false),
    );
    expect([free.outcome.kind, free.paid]).toEqual(["completed", [1]]);
    const broken = await ask(
      [[pay(1)]],
      policy(() => {
        throw new Error("bug");
      }),
    );
    expect(broken.outcome.kind).toBe("interrupted");
  });

  it("a tool's own rule goes before a pattern's", async () => {
    const { outcome } = await ask([[pay(1), look()]], { approvals: { "*": true, look: false } });
    expect(questionsIn(outcome)[0]?.actions?.map(({ name }) => name)).toEqual(["pay"]);
  });

  it("`when`, guards and descriptions see the runtime context, dates and all", async () => {
    const made = tools();
    const model = fakeModel()
      .respondWithTools([pay(1), pay(9)])
      .respond(new AIMessage("done"));
    type At = { runtime: { context?: unknown } };
    const untilOf = ({ runtime }: At) => (runtime.context as { until: Date }).until.getDate();
    const agent = await agentOf({
      model,
      tools: made.tools,
      policy: {
        guards: {
          pay: (request) => (request.toolCall.args.amount < untilOf(request) - 29 ? "too early" : undefined),
        },
        approvals: {
          pay: {
            when: (request) => untilOf(request) === 31,
            description: (_, __, runtime) => `until the ${untilOf({ runtime })}st`,
          },
        },
      },
    });
    const context = { until: { $date: "2026-08-31T12:00:00Z" } };
    const outcome = await execute(agent, activationOf({ context }), servicesInMemory());
    expect(questionsIn(outcome)[0]?.value).toMatchObject({
      actionRequests: [{ id: "pay9", description: "until the 31st" }],
    });
  });

  it("never what a limit or a guard refuses", async () => {
    const asked = await ask([[pay(1), pay(2), pay(3)]], {
      approvals: { pay: true },
      toolCalls: [{ tool: "pay", run: 1 }],
      guards: { pay: ({ toolCall }) => (toolCall.args.amount === 1 ? "the period is closed" : undefined) },
    });
    expect(questionsIn(asked.outcome)[0]?.actions?.map(({ args }) => args.amount)).toEqual([2]);
    expect(await decide(asked, [approve])).toMatchObject({ kind: "completed", output: "done" });
    expect(asked.paid).toEqual([2]);
    expect(answersIn(await historyOf(asked))).toEqual({
      pay1: "the period is closed",
      pay2: "paid 1",
      pay3: expect.stringMatching(/^Tool call limit exceeded/),
    });
  });

  it("a guard refuses before a tool without approval, too", async () => {
    const { outcome, paid } = await ask([[pay(1)]], { guards: { pay: () => "closed" } });
    expect(outcome).toMatchObject({ kind: "completed" });
    expect(paid).toEqual([]);
  });
});

describe("what becomes of the calls", () => {
  it("each has its own outcome, and every one has its answer", async () => {
    const asked = await ask([[pay(1), pay(2), look(), pay(3), pay(4)]], {
      approvals: { pay: { decisions: ["approve", "edit", "reject", "respond"] } },
    });
    const respond: Decision = { type: "respond", message: "paid by hand" };
    const outcome = await decide(asked, [approve, reject, edit(33), respond]);
    expect(outcome).toMatchObject({ kind: "completed", output: "done" });
    expect(asked.paid.toSorted()).toEqual([1, 33]);
    expect(answersIn(await historyOf(asked))).toEqual({
      pay1: expect.stringMatching(/^paid/),
      pay2: "no",
      look: "seen",
      pay3: expect.stringMatching(/^paid/),
      pay4: "paid by hand",
    });
  });

  it("an edit into a call of another gated tool is asked about again, and guarded as that tool's", async () => {
    const rules: Policy = { approvals: { look: true, pay: { decisions: ["approve", "reject", "edit"] } } };
    const asked = await ask([[look()]], {
      ...rules,
      guards: { pay: ({ toolCall }) => (toolCall.args.amount === 1 ? "closed" : undefined) },
    });
    const again = await decide(asked, [edit(7)]);
    expect(asked.paid).toEqual([]);
    expect(questionsIn(again)[0]?.actions).toMatchObject([{ name: "pay", args: { amount: 7 } }]);
    const done = await decide({ ...asked, outcome: again }, [approve], 3);
    expect(done).toMatchObject({ kind: "completed", output: "done" });
    expect(asked.paid).toEqual([7]);

    const guarded = await ask([[look()]], { ...rules, guards: { pay: () => "closed" } });
    expect(await decide(guarded, [edit(1)])).toMatchObject({ kind: "completed" });
    expect(guarded.paid).toEqual([]);
  });

  it("all rejected: the model reads it", async () => {
    const asked = await ask([[pay(1)]], { approvals: { pay: true } });
    expect(await decide(asked, [{ type: "reject" }])).toMatchObject({ kind: "completed", output: "done" });
    expect(asked.model.callCount).toBe(2);
    expect(asked.paid).toEqual([]);
  });

  it("endless rejections end at the limit of model calls", async () => {
    const turns = Array.from({ length: 6 }, (_, i) => [pay(i + 1)]);
    const asked = await ask(turns, { approvals: { pay: true }, modelCalls: { run: 2 } });
    const second = await decide(asked, [reject]);
    const last = await decide({ ...asked, outcome: second }, [reject], 3);
    expect(last).toMatchObject({ kind: "completed", endedBy: "model_call_limit" });
    expect(asked.model.callCount).toBe(2);
  });

  it("a second answer to the first question does nothing to the next", async () => {
    const asked = await ask([[pay(1)], [pay(2)]], { approvals: { pay: true } });
    const next = await decide(asked, [approve]);
    expect(questionsIn(next)[0]?.actions?.map(({ args }) => args.amount)).toEqual([2]);
    const again = await decide(asked, [approve], 3);
    expect(questionsIn(again)[0]?.actions?.map(({ args }) => args.amount)).toEqual([2]);
    expect(asked.paid).toEqual([1]);
  });

  it("a `when` that changed its mind does not lose a decision", async () => {
    let gate = true;
    const asked = await ask([[pay(1), pay(2)]], { approvals: { pay: { when: () => gate } } });
    gate = false;
    expect(await decide(asked, [reject, approve])).toMatchObject({ kind: "completed" });
    expect(asked.paid).toEqual([2]);
  });

  it("two workers that resume one question run the tool once between them, marked once", async () => {
    const asked = await ask([[pay(1)]], { approvals: { pay: true }, once: ["pay"] });
    await Promise.all([decide(asked, [approve]), decide(asked, [approve], 3)]);
    expect(asked.paid).toEqual([1]);
  });

  it("a middleware that jumps to the tools does not jump past the question", async () => {
    const jump = createMiddleware({
      name: "jump",
      afterModel: {
        canJumpTo: ["tools"],
        hook: ({ messages }) => {
          const last = messages.at(-1);
          return last && isAIMessage(last) && last.tool_calls?.length ? { jumpTo: "tools" } : undefined;
        },
      },
    }) as AgentMiddleware;
    const asked = await ask([[pay(1)]], { approvals: { pay: true } }, [jump]);
    expect(asked.paid).toEqual([]);
    const done = await decide(asked, [reject]);
    expect(asked.paid).toEqual([]);
    expect(done.kind).toBe("completed");
  });
});

it("a question that nobody will answer does not hold the thread: the next run's history is valid", async () => {
  const asked = await ask([[pay(1)]], { approvals: { pay: true } });
  const next = await execute(
    asked.agent,
    activationOf({ runId: "run-2", input: "forget it" }),
    asked.services,
  );
  expect(next).toMatchObject({ kind: "completed", output: "done" });
  expect(asked.paid).toEqual([]);
  const sent = asked.model.calls.at(-1)?.messages.map((message) => message.getType());
  expect(sent).toEqual(["human", "ai", "tool", "human"]);
});

it("an agent whose rule is gone when the decision comes says so", async () => {
  const asked = await ask([[pay(1)]], { approvals: { pay: true, look: true } });
  const changed = await agentOf({
    model: fakeModel().respond(new AIMessage("x")),
    tools: tools().tools,
    policy: { approvals: { look: true } },
  });
  expect(await decide({ ...asked, agent: changed }, [approve])).toMatchObject({
    kind: "failed",
    error: { code: "INVALID_DECISION", message: expect.stringContaining("the agent changed") },
  });
});

it("a streamed answer keeps no copy of the call before its edit", () => {
  const chunk = new AIMessageChunk({
    content: "",
    tool_call_chunks: [{ type: "tool_call_chunk", index: 0, id: "c", name: "pay", args: '{"amount":1}' }],
  });
  const edited = withEditedCalls(chunk, new Map([["c", { id: "c", name: "pay", args: { amount: 7 } }]]));
  expect(JSON.stringify(edited)).toContain('"amount":7');
  expect(JSON.stringify(edited)).not.toContain("tool_call_chunks");
  expect(edited.tool_calls).toEqual([{ id: "c", name: "pay", args: { amount: 7 } }]);
});

it("all copies of an edited call agree", () => {
  const args = { amount: 1 };
  const message = new AIMessage({
    id: "m",
    content: [{ type: "tool_use", id: "c", name: "pay", input: args }],
    tool_calls: [{ id: "c", name: "pay", args, type: "tool_call" }],
    additional_kwargs: {
      tool_calls: [{ id: "c", type: "function", function: { name: "pay", arguments: '{"amount":1}' } }],
    },
    response_metadata: { output: [{ type: "function_call", call_id: "c", name: "pay", arguments: "{}" }] },
  });
  const edited = withEditedCalls(message, new Map([["c", { id: "c", name: "pay", args: { amount: 7 } }]]));
  expect(JSON.stringify([edited.content, edited.tool_calls, edited.additional_kwargs])).not.toMatch(
    /amount\D+1\b/,
  );
  expect(edited).toMatchObject({
    id: "m",
    content: [{ input: { amount: 7 } }],
    tool_calls: [{ args: { amount: 7 } }],
    additional_kwargs: { tool_calls: [{ function: { arguments: '{"amount":7}' } }] },
    response_metadata: { output: [{ arguments: '{"amount":7}' }] },
  });
});
