import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFleet, type Fleet } from "./testing/processes.js";
import { createSender, newId, type Sender } from "./testing/sender.js";

const folder = (name: string) => fileURLToPath(new URL(`../testing/${name}/`, import.meta.url));

let redis: RedisServer;
let sender: Sender;
const fleets: Fleet[] = [];

beforeAll(async () => {
  redis = await startRedis();
  fleets.push(...["messages", "project"].map((name) => createFleet(redis.url, "two", folder(name))));
  await Promise.all(fleets.map((fleet) => fleet.start()));
  sender = createSender(redis.url, "two");
});
afterAll(async () => {
  await sender.close();
  await Promise.all(fleets.map((fleet) => fleet.end()));
  await redis.stop();
});

it("a message for an agent that only another worker has is left to that one, which knows its rules", async () => {
  const agents = ["payer", "stepper"].flatMap((agent) => Array.from({ length: 6 }, () => agent));
  const ids = await Promise.all(
    agents.map(async (agent) => {
      const id = newId();
      await sender.send({
        v: 1,
        id,
        type: "run.start",
        replyTo: sender.replyTo,
        request: { agent, input: { messages: [] } },
      });
      return id;
    }),
  );
  for (const id of ids) {
    const told = await sender.notice(({ correlationId }) => correlationId === id);
    expect(told.type).toBe("request.admitted");
  }
}, 60_000);
