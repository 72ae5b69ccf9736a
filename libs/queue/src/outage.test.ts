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

it("a result is waited for as long as its caller says, also where its subscription cannot be made", async () => {
  const client = open(60_000);
  const handle = await client.enqueueRun({ agent: "any", input: "waited for" });
  await server.kill();
  const asked = performance.now();
  await expect(handle.result({ timeoutMs: 300 })).rejects.toMatchObject({ code: "RESULT_TIMEOUT" });
  const stop = new AbortController();
  const stopped = handle.result({ signal: stop.signal });
  stop.abort();
  await expect(stopped).rejects.toMatchObject({ code: "RESULT_TIMEOUT" });
  expect(performance.now() - asked).toBeLessThan(5000);
  await server.restart();
  await expect(handle.result({ timeoutMs: 300 })).rejects.toMatchObject({ code: "RESULT_TIMEOUT" });
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
