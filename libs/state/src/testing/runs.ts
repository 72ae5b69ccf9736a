import { type AcceptedRequest, type RunRequest, runRequestSchema } from "@drover/contracts";
import type { Claimed } from "../claimed.js";
import { connect, type Redis } from "../connect.js";
import { encodePayload } from "../payload.js";
import type { RunRef } from "../run-store.js";
import type { Settlement } from "../settlement.js";
import { openState, type State } from "../state.js";

/** A state of its own on a Redis that the test started; `prefix` keeps tests apart. */
export function testState(
  server: { url: string },
  prefix: string,
): State & { close: () => void; redis: Redis } {
  const redis = connect({ url: server.url, role: "worker" });
  return { ...openState({ redis, prefix }), close: () => redis.disconnect() };
}

export const request = (over: Partial<RunRequest> = {}): AcceptedRequest =>
  runRequestSchema.parse({ agent: "clerk", input: "hello", ...over });

export const ref = (threadId: string, runId: string): RunRef => ({ tenant: "default", threadId, runId });

export const AGENTS = { clerk: "1" };

export function taken(claimed: Claimed): Extract<Claimed, { what: "claimed" }> {
  if (claimed.what !== "claimed") throw new Error(`not claimed: ${claimed.what}`);
  return claimed;
}

export const success: Extract<Settlement, { what: "final" }> = {
  what: "final",
  status: "success",
  endedBy: "completed",
  error: null,
  output: encodePayload({ answer: 42 }),
};

/** What two processes fight for: see player.ts. */
export const THREADS = { thread: "one thread", counter: "one counter", effect: "one effect" };

/** The run of a round. */
export const runOf = (threadId: string, round: number): RunRef => ref(threadId, `run-${round}`);

export const approvalOf = (round: number): string => `approval-${round}`;
