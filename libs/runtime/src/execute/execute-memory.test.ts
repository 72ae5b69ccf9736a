import { queryObjects } from "node:v8";
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { activationOf, agentOf, servicesInMemory } from "../fixture/in-memory.js";
import { execute } from "./execute.js";

const ROUNDS = 20;

const post = tool(
  async (_, { signal }) => {
    signal?.addEventListener("abort", () => undefined);
    return "posted";
  },
  { name: "post", description: "Posts", schema: z.object({}) },
);

const agent = () =>
  agentOf({
    model: fakeModel()
      .respondWithTools([{ name: "post", args: {}, id: "c1" }])
      .respond(new AIMessage("done")),
    tools: [post],
    policy: {
      modelCalls: { run: 5 },
      toolCalls: [{ run: 5 }],
      toolRetry: [{ tools: ["post"], maxRetries: 1 }],
      timeLimits: { stepMs: 60_000, tools: { post: 60_000 } },
    },
  });

async function round(): Promise<void> {
  const outcome = await execute(await agent(), activationOf(), servicesInMemory());
  expect(outcome).toMatchObject({ kind: "completed", output: "done" });
}

/** After a collection of garbage. */
async function signals(): Promise<number> {
  await new Promise(setImmediate);
  return queryObjects(AbortSignal, { format: "count" });
}

it("keeps no signal of a run that is over, whoever listens to it still", async () => {
  await round();
  const before = await signals();
  for (let i = 0; i < ROUNDS; i += 1) await round();
  expect((await signals()) - before).toBeLessThan(ROUNDS / 2);
});
