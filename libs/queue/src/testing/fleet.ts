import { noUsage, type Outcome, type Pointer } from "@drover/contracts";
import { connect, type Redis } from "@drover/state";
import type { Client } from "../client.js";
import { Consumer } from "../consumer.js";
import { publish } from "../publisher.js";
import { settle } from "../settle.js";
import { Sweeper } from "../sweeper.js";

export interface ScriptedWorker {
  id: string;
  started: Pointer[];
  sweeper: Sweeper;
  beat: () => Promise<unknown>;
  stop: () => Promise<void>;
}

export interface ScriptedWorkerOptions {
  id?: string;
  agents?: Record<string, string>;
  concurrency?: number;
  leaseMs?: number;
  /** What each activation comes to; a promise that never ends is a worker that hangs. */
  act: (pointer: Pointer, input: unknown) => Outcome | Promise<Outcome>;
}

export const completed = (output: unknown = "done"): Extract<Outcome, { kind: "completed" }> => ({
  kind: "completed",
  output,
  endedBy: "completed",
  usage: noUsage(),
});

/** A worker that takes, settles and publishes as the real one does, and runs a function in place of an agent. */
export async function scriptedWorker(
  client: Client,
  url: string,
  options: ScriptedWorkerOptions,
): Promise<ScriptedWorker> {
  const { id = "w1", agents = { clerk: "1" }, concurrency = 5, leaseMs = 60_000, act } = options;
  const redis: Redis = connect({ url, role: "subscriber" });
  const { state, queue } = client;
  const started: Pointer[] = [];
  const describe = { host: "test", pid: 1, version: "0", concurrency, active: 0, startedAt: 0, agents: [] };
  let registered = false;
  const beat = () => {
    const register = registered ? null : { agents };
    registered = true;
    return state.workers.heartbeat(id, leaseMs, describe, register);
  };
  await beat();
  const consumer = new Consumer({
    redis,
    keys: state.keys,
    concurrency,
    onError: () => {},
    handle: async (pointer) => {
      await state.workers.noteClaim(id, pointer);
      const claimed = await state.runs.claim(pointer, pointer.seq, id, agents);
      if (claimed.what !== "claimed") return;
      started.push(pointer);
      await publish(state, queue, [claimed.transition]);
      const outcome = await act(pointer, claimed.activation.input);
      const budget = { attempt: claimed.activation.attempt, maxAttempts: claimed.maxAttempts };
      const transition = await settle(state, claimed.lease, budget, outcome);
      if (transition) await publish(state, queue, [transition]);
    },
  });
  consumer.start();
  return {
    id,
    started,
    beat,
    sweeper: new Sweeper(state, queue, () => id),
    stop: async () => {
      await consumer.abandon();
      redis.disconnect();
    },
  };
}

/** Waits until `check` is true; fails readably after ten seconds. */
export async function until(check: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`gave up waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
