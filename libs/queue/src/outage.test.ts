import { isDroverError } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Client } from "./client.js";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ appendfsync: "always" });
});
afterAll(() => server.stop());

const open = (commandTimeoutMs: number) =>
  new Client({ redisUrl: server.url, commandTimeoutMs, readAnswer: (_, answer) => answer });

it("a producer's calls wait while Redis restarts, up to their bound", async () => {
  const client = open(10_000);
  await client.enqueueRun({ agent: "any", input: "before" });
  await server.kill();
  const calls = [
    client.enqueueRun({ agent: "any", input: "while" }),
    client.listRuns(),
    client.listBatches(),
  ];
  await new Promise((resolve) => setTimeout(resolve, 2000));
  await server.restart();
  await Promise.all(calls);
  expect(await client.listRuns()).toHaveLength(2);
  await client.close();
});

it("every call says readably that Redis stays away", async () => {
  const client = open(500);
  const { runId } = await client.enqueueRun({ agent: "any", input: "x" });
  const handle = await client.run(runId);
  await server.kill();
  const calls = [
    client.enqueueRun({ agent: "any", input: "y" }),
    client.openBatch({ agent: "any" }),
    client.listRuns(),
    client.run(runId),
    client.cancelRun(runId),
    client.decide("apr_x", { value: 1 }),
    client.pause("all"),
    handle.status(),
  ];
  for (const call of await Promise.allSettled(calls)) {
    expect(call.status === "rejected" && isDroverError(call.reason, "NO_REDIS") ? "NO_REDIS" : call).toBe(
      "NO_REDIS",
    );
  }
  await server.restart();
  await client.close();
});
