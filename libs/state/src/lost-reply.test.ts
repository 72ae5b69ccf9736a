/** Clients send a command again whose reply was lost with the connection: a script that runs twice must be one. */
import { isDroverError, noUsage } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { connect, type Redis } from "./connect.js";
import { createEffects } from "./effects.js";
import { appendEvents } from "./event-log.js";
import { encodePayload } from "./payload.js";
import { openState, type State } from "./state.js";
import { AGENTS, ref, request, success, taken } from "./testing/runs.js";

let server: RedisServer;
let redis: Redis;
let state: State;
let n = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = connect({ url: server.url, role: "worker" });
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => {
  n += 1;
  state = openState({ redis: sendingTwice(redis), prefix: `lost${n}` });
});

/** Runs each script twice and gives the second reply, as after a reconnect. */
function sendingTwice(real: Redis): Redis {
  return new Proxy(real, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      if (name !== "evalshaBuffer" && name !== "evalBuffer") return value.bind(target);
      return async (...args: unknown[]) => {
        await value.apply(target, args);
        return value.apply(target, args);
      };
    },
  });
}

const run = ref("t", "a");
const admit = async (over = {}) => {
  const accepted = request(over);
  return state.runs.admit(run, accepted, encodePayload(accepted), "a");
};
const claim = (worker = "w1", seq = 1) => state.runs.claim(run, seq, worker, AGENTS);

it("a claim is the claimer's, and still only one's", async () => {
  await admit();
  const { lease, transition } = taken(await claim());
  expect(transition).toMatchObject({ status: "running", worker: "w1" });
  expect(await state.runs.settle(lease, noUsage(), success)).toMatchObject({ status: "success" });
});

it("a second delivery to the worker that has the run gets nothing", async () => {
  await admit();
  taken(await claim());
  expect(await claim()).toEqual({ what: "held" });
  expect(await claim("w2")).toEqual({ what: "stale" });
});

it("a settled activation is told to whoever settled it, until all have learnt of it", async () => {
  await admit();
  const { lease } = taken(await claim());
  const ended = await state.runs.settle(lease, noUsage(), success);
  expect(ended).toMatchObject({ status: "success" });
  if (ended) await state.runs.acknowledge(ended);
  expect(await state.runs.settle(lease, noUsage(), success)).toBeNull();
});

it("a tool marked once is started by the call that claimed it, and by no other", async () => {
  await admit();
  const { lease } = taken(await claim());
  const effects = createEffects(state.redis, state.keys, lease);
  expect(await effects.claim("e")).toEqual({ state: "claimed" });
  const other = await effects.claim("e");
  expect(other).toMatchObject({ state: "unknown" });
  expect(other.state === "unknown" && Date.now() - other.startedAt).toBeLessThan(60_000);
});

it("events are appended once", async () => {
  await admit();
  const { lease } = taken(await claim());
  const event = { type: "custom", data: 1, attempt: 1, seq: 1 } as const;
  await appendEvents(state.redis, state.keys, lease, [event, event], 100);
  await appendEvents(state.redis, state.keys, lease, [event], 100);
  const stream = await redis.xrange(state.keys.thread("default", "t").events("a"), "-", "+");
  expect(stream.filter(([, fields]) => fields[1]?.includes("custom"))).toHaveLength(3);
});

it("a cancel that was made is refused the second time and stands in the outbox", async () => {
  await admit();
  const cancelled = state.runs.cancel(run, { code: "CANCELLED", message: "no" });
  await expect(cancelled).rejects.toSatisfy((error) => isDroverError(error, "ILLEGAL_TRANSITION"));
  expect(await state.runs.unpublished(run)).toMatchObject([{ status: "cancelled" }]);
});

it("a run is not given out before its delay is over, whatever clock delivered it", async () => {
  await admit({ delayMs: 3000 });
  const early = await claim();
  expect(early.what === "early" && early.until - Date.now()).toBeGreaterThan(2000);
});
