import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { State } from "./state.js";
import { testState } from "./testing/runs.js";

let server: RedisServer;
let state: State & { close: () => void };
let n = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => {
  state?.close();
  n += 1;
  state = testState(server, `w${n}`);
});

const describe = { host: "h", pid: 1, version: "0", concurrency: 1, active: 0, startedAt: 0, agents: [] };
const beat = (holdsMs: number, isNew = false) =>
  state.workers.heartbeat("w", holdsMs, describe, isNew ? { agents: {} } : null);
const member = "default/t/run";
const run = { tenant: "default", threadId: "t", runId: "run" };
const activation = { ...run, seq: 1 };
const gone = () => state.workers.gone(10);

it("a worker that claims a run while it is being buried stays listed until the run was taken over", async () => {
  await beat(-1, true);
  expect(await gone()).toEqual([{ worker: "w", claims: [] }]);
  await state.workers.noteClaim("w", activation);
  await state.workers.remove("w", true);
  expect(await gone()).toEqual([{ worker: "w", claims: [activation] }]);
  await state.workers.dropClaim("w", activation);
  await state.workers.remove("w", true);
  expect(await gone()).toEqual([]);
  expect(await beat(1000)).toMatchObject({ alive: false });
});

it("a worker that says in the last moment that it lives is not buried", async () => {
  await beat(-1, true);
  await beat(60_000);
  await state.workers.remove("w", true);
  expect(await beat(60_000)).toMatchObject({ alive: true });
});

it("a worker is told to stop a run until it has; what nobody hears goes by itself", async () => {
  await beat(60_000, true);
  await state.workers.askToStop("w", member);
  expect((await beat(60_000)).cancels).toEqual([run]);
  expect((await beat(60_000)).cancels).toEqual([run]);
  expect(await state.redis.ttl(state.keys.index("cancels:w"))).toBeGreaterThan(0);
  await state.workers.hasStopped("w", member);
  expect((await beat(60_000)).cancels).toEqual([]);
});
