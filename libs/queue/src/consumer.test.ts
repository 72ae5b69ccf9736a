import type { Pointer } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { connect } from "@drover/state";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Client } from "./client.js";
import { Consumer } from "./consumer.js";

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

it("a consumer that is shut goes on with what it has, and takes nothing but what is on its way until it is open again", async () => {
  const client = new Client({ redisUrl: server.url, prefix: "shut" });
  const redis = connect({ url: server.url, role: "subscriber" });
  const taken: string[] = [];
  const ends: (() => void)[] = [];
  const handle = async ({ runId }: Pointer) => {
    taken.push(runId);
    await new Promise<void>((end) => ends.push(end));
  };
  const { keys } = client.state;
  const consumer = new Consumer({ redis, keys, concurrency: 4, handle, onError: () => {} });
  consumer.start();
  const send = async () => (await client.enqueueRun({ agent: "clerk", input: "x" })).runId;
  const first = await send();
  await expect.poll(() => taken).toEqual([first]);
  consumer.shut(true);
  const later = [await send(), await send(), await send()];
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(taken.length).toBeLessThanOrEqual(2);
  expect(consumer.isTaking).toBe(false);
  consumer.shut(false);
  await expect.poll(() => taken).toEqual([first, ...later]);
  expect(consumer.isTaking).toBe(true);
  for (const end of ends) end();
  await consumer.stop();
  redis.disconnect();
  await client.close();
});
