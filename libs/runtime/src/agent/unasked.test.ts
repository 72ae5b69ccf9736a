import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { MemorySaver } from "@langchain/langgraph";
import { createMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { execute } from "../execute/execute.js";
import { activationOf, agentOf, servicesInMemory } from "../fixture/in-memory.js";
import type { AgentSpec } from "./define-agent.js";

const schema = z.object({});
const tools = ["look", "pay"].map((name) => tool(() => `${name} done`, { name, description: name, schema }));
const call = (name: string, id: string) => [{ name, args: {}, id, type: "tool_call" as const }];

/** A run of an agent that asks about `pay`: its outcomes, and the nodes of its checkpoints. */
async function run(
  model: NonNullable<AgentSpec["model"]>,
  decisions: unknown[] = [],
  more: Partial<AgentSpec> = {},
) {
  const approvals = { pay: { decisions: ["approve" as const, "reject" as const] } };
  const agent = await agentOf({ model, tools, ...more, policy: { approvals, ...more.policy } });
  const services = servicesInMemory({ checkpointer: new MemorySaver() });
  let outcome = await execute(agent, activationOf(), services);
  for (const decision of decisions) {
    if (outcome.kind !== "interrupted") throw new Error(`a run ended as ${outcome.kind}`);
    const [question] = outcome.questions;
    const values = { [String(question?.interruptId)]: { decisions: [decision] } };
    const resume = { values, checkpointId: outcome.checkpointId };
    outcome = await execute(agent, activationOf({ kind: "resume", seq: 2, resume }), services);
  }
  let checkpoints = 0;
  for await (const _ of services.checkpointer.list({ configurable: { thread_id: "thread-1" } }))
    checkpoints += 1;
  return { outcome, checkpoints };
}

describe("the node that asks", () => {
  it("is passed by where the model calls nothing that is asked about", async () => {
    const { outcome, checkpoints } = await run(
      fakeModel().respondWithTools(call("look", "c1")).respond(new AIMessage("seen")),
    );
    expect(outcome).toMatchObject({ kind: "completed", output: "seen" });
    // The input, its step, the model, the tool, the model.
    expect(checkpoints).toBe(5);
  });

  it("is passed by after it sent a rejected call back to the model", async () => {
    const { outcome, checkpoints } = await run(
      fakeModel()
        .respondWithTools(call("pay", "c1"))
        .respondWithTools(call("look", "c2"))
        .respond(new AIMessage("seen, not paid")),
      [{ type: "reject", toolCallId: "c1" }],
    );
    expect(outcome).toMatchObject({ kind: "completed", output: "seen, not paid" });
    expect(checkpoints).toBe(7);
  });

  it("stands where the agent's own middleware runs after the model", async () => {
    const seen: string[] = [];
    const watch = createMiddleware({
      name: "watch",
      afterModel: ({ messages }) => void seen.push(messages.at(-1)?.text ?? ""),
    });
    const { outcome } = await run(
      fakeModel().respondWithTools(call("look", "c1")).respond(new AIMessage("seen")),
      [],
      { middleware: [watch] },
    );
    expect(outcome).toMatchObject({ kind: "completed", output: "seen" });
    expect(seen).toHaveLength(2);
  });
});
