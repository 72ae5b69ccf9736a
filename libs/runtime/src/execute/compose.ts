import { setMaxListeners } from "node:events";
import type { Activation } from "@drover/contracts";
import { RunControl } from "@langchain/langgraph";
import type { LoadedAgent } from "../load/loaded-agent.js";
import { takeUngatedModelUnit, takeUngatedToolUnit } from "../policy/ungated-units.js";
import { FirstToken } from "./first-token.js";
import { ModelCallbacks } from "./model-callbacks.js";
import { RUN_KEY, type RunContext } from "./run-context.js";
import { reviveContext } from "./runtime-context.js";
import type { Services } from "./services.js";
import { StampedSaver } from "./stamped-saver.js";
import type { StepClock } from "./step-clock.js";
import { TraceCalls } from "./trace-calls.js";
import { tracersFor } from "./tracing.js";
import { gateEveryCall } from "./ungated-calls.js";
import type { UsageMeter } from "./usage-meter.js";

/** LangGraph's key for a checkpointer of one call: the graph itself is shared by all runs. (A test guards it.) */
const CHECKPOINTER_KEY = "__pregel_checkpointer";
/** LangGraph's key for refusing answers to questions that do not wait. (A test guards it.) */
const STRICT_RESUME_KEY = "__pregel_strict_resume";

export interface ComposedRun {
  /** For the graph's `stream`, and for its `getState` afterwards. */
  config: Record<string, unknown>;
  /** Forgets the signals; to be called when the run ended. */
  dispose(): void;
}

/** Where a run streams what its model says, the time to the first token is measured. */
function firstToken({ agent, streamMode }: Activation, { metrics }: Services): FirstToken[] {
  return metrics && streamMode.includes("messages") ? [new FirstToken(agent, metrics)] : [];
}

function traceCalls({ trace }: Services): TraceCalls[] {
  return trace ? [new TraceCalls(trace.span, trace.content)] : [];
}

/** The config of one run. Throws MISSING_CREDENTIAL, INVALID_INPUT. */
export function compose(
  agent: LoadedAgent,
  activation: Activation,
  services: Services,
  usage: UsageMeter,
  clock: StepClock,
): ComposedRun {
  // Many runs listen to one drain, and many steps to one signal: more than ten is no leak here.
  setMaxListeners(0, services.drain, services.signal);
  gateEveryCall();
  const control = new RunControl();
  const drain = () => control.requestDrain("the worker is shutting down");
  if (services.drain.aborted) drain();
  services.drain.addEventListener("abort", drain, { once: true });
  const context = reviveContext(activation.context, services.env, agent.definition?.contextSchema);
  const run: RunContext = {
    activation,
    services,
    context,
    callbacks: [usage, ...firstToken(activation, services), ...traceCalls(services), ...tracersFor(services)],
    answers: usage.answers,
    takeModelUnit: async () => {
      if (agent.definition) await takeUngatedModelUnit(agent.definition.policy, run);
    },
    takeToolUnit: async (tool) => {
      if (agent.definition) await takeUngatedToolUnit(agent.definition.policy, tool, run);
    },
    stop: (reason) => clock.end(reason),
  };
  const { recursionLimit } = agent;
  const stamp = { run_id: activation.runId, agent: agent.name, agent_version: agent.version };
  return {
    config: {
      configurable: {
        thread_id: activation.threadId,
        [CHECKPOINTER_KEY]: new StampedSaver(services.checkpointer, stamp, clock),
        [STRICT_RESUME_KEY]: true,
        [RUN_KEY]: run,
      },
      metadata: { ...stamp },
      tags: activation.tags,
      context,
      signal: services.signal,
      control,
      durability: "sync",
      ...(services.store ? { store: services.store } : {}),
      callbacks: ModelCallbacks.of(run.callbacks),
      streamMode: ["values", ...new Set(activation.streamMode)],
      ...(recursionLimit === undefined ? {} : { recursionLimit }),
    },
    dispose: () => services.drain.removeEventListener("abort", drain),
  };
}
