import type { AcceptedRequest, Activation, Lease, LimitedRun, Transition } from "@drover/contracts";
import type { Codec } from "./encryption/codec.js";
import { openJson } from "./encryption/sealed.js";
import { decodePayload } from "./payload.js";
import type { RunRef } from "./run-store.js";
import type { StoredAnswer } from "./stored-answer.js";
import { parseTransition } from "./transitions.js";

/** What a worker that asks for an activation gets. */
export type Claimed =
  | {
      what: "claimed";
      lease: Lease;
      activation: Activation;
      maxAttempts: number;
      transition: Transition;
      /** Whether the thread has no checkpoints. */
      isNewThread: boolean;
      /** Whether the next death of its worker can set it aside: nothing else may be worked on beside it. */
      mustBeAlone: boolean;
    }
  /** Nothing to do: the activation is over, was replaced, or another worker has it. */
  | { what: "stale" }
  /** This worker has it already, by another delivery. */
  | { what: "held" }
  /** This worker does not have the agent. */
  | { what: "elsewhere"; agent: string }
  /** Its delay is not over: it was delivered by a clock that is wrong. */
  | { what: "early"; until: number }
  /** It needs shares of what its limits count, taken for this delivery, before it is claimed. */
  | { what: "limited"; run: LimitedRun; priority: number; delivery: number };

/** A reply of claim.lua in these words. */
export function parseClaim(
  run: RunRef,
  seq: number,
  worker: string,
  what: string,
  rest: readonly (Buffer | number | null)[],
  codec: Codec | undefined,
): Claimed {
  if (what === "elsewhere") return { what, agent: String(rest[0]) };
  if (what === "early") return { what, until: Number(rest[0]) };
  if (what === "limited") {
    const [agent, priority, own, delivery] = rest.map(String);
    const limited: LimitedRun = {
      tenant: run.tenant,
      agent: agent ?? "",
      own: own ? (JSON.parse(own) as LimitedRun["own"]) : null,
    };
    return { what, run: limited, priority: Number(priority), delivery: Number(delivery) };
  }
  if (what === "held" && String(rest[0]) === worker) return { what };
  if (what !== "claimed") return { what: "stale" };
  const [
    epoch,
    transition,
    request,
    input,
    kind,
    attempt,
    maxAttempts,
    version,
    deadline,
    now,
    checkpointId,
    checkpoints,
    mustBeAlone,
    ...answers
  ] = rest;
  const fields = openJson(String(request), codec) as Omit<AcceptedRequest, "input" | "context">;
  const payload = decodePayload(input as Buffer, codec) as Pick<AcceptedRequest, "input" | "context">;
  const deadlineAt = String(deadline) === "" ? null : Number(deadline);
  return {
    what,
    maxAttempts: Number(maxAttempts),
    isNewThread: Number(checkpoints) === 0,
    mustBeAlone: Number(mustBeAlone) === 1,
    lease: { ...run, seq, epoch: Number(epoch), worker },
    transition: parseTransition(run, transition),
    activation: {
      ...run,
      seq,
      kind: String(kind) as Activation["kind"],
      attempt: Number(attempt),
      agent: fields.agent,
      agentVersion: String(version),
      input: payload.input,
      context: payload.context,
      metadata: fields.metadata,
      tags: fields.tags,
      traceparent: fields.traceparent,
      streamMode: fields.streamMode,
      deadlineAt,
      deadlineInMs: deadlineAt === null ? null : deadlineAt - Number(now),
      resume: answers.length > 0 ? resumeOf(String(checkpointId), answers, codec) : null,
    },
  };
}

function resumeOf(
  checkpointId: string,
  answers: (Buffer | number | null)[],
  codec: Codec | undefined,
): Activation["resume"] {
  const stored = answers.map((json) => openJson(String(json), codec) as StoredAnswer);
  return { checkpointId, values: Object.fromEntries(stored.map((a) => [a.interruptId, a.value])) };
}
