import { isDroverError, type Lease } from "@drover/contracts";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { afterAll, describe, expect, it } from "vitest";
import { createKeys } from "../keys.js";
import { RedisSaver } from "./redis-saver.js";
import { startTestRedis } from "./testing/redis-servers.js";

const server = await startTestRedis();
afterAll(() => server.stop());
const keys = createKeys();

function leaseOf(threadId: string, epoch: number, worker: string): Lease {
  return { tenant: "acme", threadId, runId: `run-${epoch}`, seq: 1, epoch, worker };
}

async function grant({ tenant, threadId, epoch, worker }: Lease): Promise<void> {
  await server.redis.hset(keys.thread(tenant, threadId).thread, { epoch: String(epoch), holder: worker });
}

function saverOf(lease?: Lease): RedisSaver {
  return new RedisSaver({ redis: server.redis, keys, tenant: "acme", ...(lease ? { lease } : {}) });
}

async function everything(): Promise<string> {
  const dump: unknown[] = [];
  for (const key of (await server.redis.keys("*:cp*")).sort()) dump.push([key, await server.redis.dump(key)]);
  return JSON.stringify(dump);
}

function put(saver: RedisSaver, threadId: string, text: string, parent?: string) {
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(1) };
  checkpoint.channel_values = { messages: [new HumanMessage(text)] };
  const versions = { messages: saver.getNextVersion(undefined) };
  checkpoint.channel_versions = versions;
  const config = { configurable: { thread_id: threadId, ...(parent ? { checkpoint_id: parent } : {}) } };
  return saver.put(config, checkpoint, { source: "loop", step: 1, parents: {} }, versions);
}

describe("fence", () => {
  it("refuses put, putWrites and deleteThread of a lease that was taken over, and stores nothing of them", async () => {
    const old = leaseOf("t", 1, "worker-a");
    const next = leaseOf("t", 2, "worker-b");
    await grant(old);
    const [stale, current] = [saverOf(old), saverOf(next)];
    const config = await put(stale, "t", "first");
    await grant(next);
    await put(current, "t", "second", config.configurable?.checkpoint_id);
    const before = await everything();

    const refused = [
      put(stale, "t", "planted checkpoint"),
      stale.putWrites(config, [["messages", new AIMessage("planted write")]], "task"),
      put(stale, "t", "planted too", config.configurable?.checkpoint_id),
    ];
    for (const one of await Promise.allSettled(refused)) {
      expect(one.status === "rejected" && isDroverError(one.reason, "LEASE_LOST")).toBe(true);
    }
    await expect(stale.deleteThread("t")).rejects.toMatchObject({ code: "LEASE_LOST" });
    expect(await everything()).toBe(before);
    expect(
      (await current.getTuple({ configurable: { thread_id: "t" } }))?.checkpoint.channel_values,
    ).toMatchObject({
      messages: [{ content: "second" }],
    });
  });

  it("compares the worker as well as the epoch", async () => {
    const lease = leaseOf("same epoch", 3, "worker-a");
    await grant({ ...lease, worker: "worker-b" });
    await expect(put(saverOf(lease), "same epoch", "x")).rejects.toMatchObject({ code: "LEASE_LOST" });
  });

  it("refuses where the thread's record has no lease at all", async () => {
    await expect(put(saverOf(leaseOf("none", 1, "w")), "none", "x")).rejects.toMatchObject({
      code: "LEASE_LOST",
    });
  });

  it("writes without a lease where none is asked for, and a fenced writer follows", async () => {
    const lease = leaseOf("tool", 1, "w");
    await grant(lease);
    const fenced = saverOf(lease);
    const first = await put(fenced, "tool", "one");
    await put(saverOf(), "tool", "two", first.configurable?.checkpoint_id);
    await put(fenced, "tool", "three", first.configurable?.checkpoint_id);
    const texts: unknown[] = [];
    for await (const { checkpoint } of fenced.list({ configurable: { thread_id: "tool" } })) {
      texts.push((checkpoint.channel_values.messages as HumanMessage[])[0]?.content);
    }
    expect(texts).toEqual(["three", "two", "one"]);
  });
});
