import type { Activation, Outcome } from "@drover/contracts";
import { RUNS_QUEUE } from "@drover/queue";
import type { TraceSpan } from "@drover/telemetry";
import type { WorkerContext } from "./context.js";

/** An activation in its run's trace. */
export interface RunTrace extends Pick<TraceSpan, "traceId" | "child"> {
  /** Ends it by what the activation came to. */
  end(outcome: Outcome): void;
}

/** The span of an activation's agent, under one of its delivery. Undefined where nothing is traced. */
export function traceOf(
  { traces }: Pick<WorkerContext, "traces">,
  activation: Activation,
): RunTrace | undefined {
  if (!traces) return undefined;
  const { runId, threadId, agent, agentVersion, tenant, seq, attempt, kind, traceparent } = activation;
  const delivery = traces.consume({ runId, traceparent }, `process ${RUNS_QUEUE}`, {
    "messaging.system": "bullmq",
    "messaging.destination.name": RUNS_QUEUE,
    "messaging.operation.type": "process",
    "messaging.message.id": `${runId}-${seq}`,
    "drover.run.id": runId,
    "drover.tenant": tenant,
    "drover.activation.kind": kind,
    "drover.activation.seq": seq,
    "drover.attempt": attempt,
  });
  const span = delivery.child(`invoke_agent ${agent}`, "internal", {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": agent,
    "gen_ai.agent.version": agentVersion,
    "gen_ai.conversation.id": threadId,
  });
  return {
    traceId: span.traceId,
    child: (name, childKind, attributes) => span.child(name, childKind, attributes),
    end(outcome) {
      const error = errorOf(outcome);
      delivery.set({ "drover.outcome": outcome.kind });
      span.end(error);
      delivery.end(error);
    },
  };
}

function errorOf(outcome: Outcome): string | undefined {
  if (outcome.kind === "failed" || outcome.kind === "timed_out") return outcome.error.code;
  return outcome.kind === "superseded" ? "LEASE_LOST" : undefined;
}
