import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { type AgentMiddleware, createAgent, humanInTheLoopMiddleware } from "langchain";
import { z } from "zod";
import { ScriptedModel } from "./scripted-model.js";

/** One turn of a conversation: the tools that the model asks for, call by call, and what happens after it. */
export interface Turn {
  rounds: ("look" | "fail" | "risky")[][];
  decisions: ("approve" | "reject" | "edit")[];
  fork: number | undefined;
  reopen: boolean;
}

export const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.record({
    rounds: fc.array(
      fc.array(fc.constantFrom("look" as const, "look" as const, "fail" as const, "risky" as const), {
        minLength: 1,
        maxLength: 4,
      }),
      { maxLength: 3 },
    ),
    decisions: fc.array(fc.constantFrom("approve" as const, "reject" as const, "edit" as const), {
      minLength: 4,
      maxLength: 4,
    }),
    fork: fc.option(fc.nat(12), { nil: undefined }),
    reopen: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

const schema = z.object({ n: z.number() });
const look = tool(async ({ n }) => `found ${n} ${"r".repeat(400)}`, {
  name: "look",
  description: "Looks.",
  schema,
});
const risky = tool(async ({ n }) => `did ${n}`, { name: "risky", description: "Acts.", schema });
const fail = tool(
  async ({ n }) => {
    if (n % 2 === 0) throw new Error(`tool ${n} failed`);
    return `fine ${n}`;
  },
  { name: "fail", description: "Fails.", schema },
);

// Its declared type does not fit createAgent's with exactOptionalPropertyTypes.
const approvals: unknown = humanInTheLoopMiddleware({ interruptOn: { risky: true } } as never);

let calls = 0;

export function agentOn(checkpointer: BaseCheckpointSaver, rounds: Turn["rounds"]) {
  const model = new ScriptedModel((messages) => {
    const asked = messages.length - 1 - messages.findLastIndex((message) => message.getType() === "human");
    const done = messages
      .slice(messages.length - asked)
      .filter((message) => message.getType() === "ai").length;
    const names = rounds[done];
    if (names === undefined) return new AIMessage(`answer ${messages.length} ${"a".repeat(60)}`);
    const tool_calls = names.map((name) => {
      calls += 1;
      return { name, args: { n: calls }, id: `call-${calls}`, type: "tool_call" as const };
    });
    return new AIMessage({ content: "", tool_calls });
  });
  return createAgent({
    model,
    tools: [look, risky, fail],
    checkpointer,
    middleware: [approvals as AgentMiddleware],
  });
}

export async function takeTurn(
  checkpointer: BaseCheckpointSaver,
  threadId: string,
  turn: Turn,
): Promise<void> {
  const agent = agentOn(checkpointer, turn.rounds);
  const config = { configurable: { thread_id: threadId }, durability: "sync" as const, recursionLimit: 60 };
  // A tool that throws ends the run; the next turn goes on behind the failed step.
  const run = (input: Parameters<typeof agent.invoke>[0]) =>
    agent.invoke(input, config).catch((error: unknown) => {
      if (!(error instanceof Error) || !/tool \d+ failed/.test(error.message)) throw error;
    });
  await run({ messages: [new HumanMessage(`question ${calls}`)] });
  for (let asked = 0; asked < 4; asked += 1) {
    const state = await agent.graph.getState(config);
    const [interrupt] = state.tasks.flatMap(({ interrupts }) => interrupts);
    if (interrupt === undefined) break;
    const { actionRequests } = interrupt.value as { actionRequests: { name: string }[] };
    const decisions = actionRequests.map((action, i) => {
      const type = turn.decisions[i % turn.decisions.length];
      if (type === "reject") return { type, message: "no" };
      return type === "edit"
        ? { type, editedAction: { name: action.name, args: { n: 1 } } }
        : { type: "approve" };
    });
    await run(new Command({ resume: { decisions } }) as never);
  }
  if (turn.fork === undefined) return;
  const history = [];
  for await (const state of agent.graph.getStateHistory(config)) history.push(state);
  const past = history[turn.fork % history.length];
  if (past === undefined) return;
  const fork = await agent.graph.updateState(
    past.config,
    { messages: [new HumanMessage("forked")] },
    "model_request",
  );
  await agent.graph.invoke(null, { ...config, ...fork }).catch((error: unknown) => {
    if (!(error instanceof Error) || !/tool \d+ failed/.test(error.message)) throw error;
  });
}
