import { setImmediate as turn } from "node:timers/promises";
import { concurrencySchema } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client, park, resumeScope } from "@drover/queue";
import type { State } from "@drover/state";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ActiveRuns } from "./active-runs.js";
import { claim } from "./claim.js";
import type { WorkerContext } from "./context.js";

const SCOPE = "agent:clerk";
/** SEEDS=5000 for the long version. */
const SEEDS = Number(process.env.SEEDS ?? 60);

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

/** Lets one command at a time go, of all that are about to be sent; the seed says which. */
function inSeededOrder(seed: number) {
  let drawn = seed;
  const draw = (below: number) => {
    drawn = (drawn * 48_271) % 2_147_483_647;
    return drawn % below;
  };
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  const gated = <T extends object>(store: T): T =>
    new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          await new Promise<void>((go) => waiting.push(go));
          inFlight += 1;
          return value.apply(target, args).finally(() => {
            inFlight -= 1;
          });
        };
      },
    });
  const play = async (...players: Promise<unknown>[]) => {
    let isOver = false;
    const end = Promise.all(players).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      for (let quiet = 0; quiet < 5; quiet = inFlight > 0 ? 0 : quiet + 1) await turn();
      if (waiting.length > 0) waiting.splice(draw(waiting.length), 1)[0]?.();
    }
    await end;
  };
  return { gated, play };
}

const GATED = ["runs", "reader", "indexes", "marks", "workers", "shares"] as const;

it(`a delivery that is put aside takes no share from a run that another worker begins (${SEEDS} orders)`, async () => {
  let began = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const client = new Client({ redisUrl: server.url, prefix: `aside${seed}` });
    const { gated, play } = inSeededOrder(seed);
    const state: State = { ...client.state };
    for (const name of GATED) Object.assign(state, { [name]: gated(client.state[name]) });
    const queue = gated(client.queue);
    const worker = (id: string) =>
      ({
        ...{ workerId: () => id, state, queue, activeRuns: new ActiveRuns(), versions: { clerk: "1" } },
        concurrency: concurrencySchema.parse({}),
      }) as unknown as WorkerContext;
    const [one, other] = await client.enqueueMany(
      ["a", "b"].map((threadId) => ({ agent: "clerk", input: "x", threadId, concurrencyKey: "k" })),
    );
    if (!one || !other) throw new Error("not accepted");
    const pointer = (run: typeof one) => ({ ...run, seq: 1, delivery: 1 });
    await client.pause(SCOPE);
    // The first worker has not heard of the pause yet; the second one has, and gets the same delivery once more.
    await play(
      claim(worker("w1"), pointer(one)),
      park(state, queue, one, SCOPE).then(() => resumeScope(state, queue, SCOPE)),
      claim(worker("w3"), pointer(other)).then(() => claim(worker("w3"), pointer(other))),
    );
    const runs = await Promise.all([one, other].map((run) => run.status()));
    const running = runs.filter(({ status }) => status === "running").length;
    began += running;
    expect(running, `runs at once, seed ${seed}`).toBeLessThanOrEqual(1);
    const held = await client.state.redis.smembers(client.state.keys.index("share:key:default/k:held"));
    expect(held, `who has the share, seed ${seed}`).toEqual(
      running === 1 ? [runs.find(({ status }) => status === "running")?.runId] : expect.anything(),
    );
    await client.close();
  }
  expect(began).toBeGreaterThan(0);
}, 600_000);
