import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createKeys } from "../keys.js";
import { RedisSaver } from "./redis-saver.js";
import { startTestCluster, startTestRedis } from "./testing/redis-servers.js";

// The suite is written for test runners that have these as globals.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });

const single = await startTestRedis();
const { cluster, stop } = await startTestCluster();
afterAll(async () => {
  await single.stop();
  await stop();
});

for (const [where, redis] of [
  ["single", single.redis],
  ["cluster", cluster],
] as const) {
  let tenants = 0;
  const initializer = {
    checkpointerName: `RedisSaver on ${where}`,
    createCheckpointer() {
      tenants += 1;
      return new RedisSaver({ redis, keys: createKeys(), tenant: `tenant ${tenants}` });
    },
  };
  validate(initializer as never);
  deltaChannelHistoryTests(initializer as never);
}
