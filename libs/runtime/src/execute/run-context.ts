import { type Activation, DroverError } from "@drover/contracts";
import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { AIMessage } from "@langchain/core/messages";
import type { Services } from "./services.js";

/**
 * What the compiled agent, which all runs share, needs to know of the run that it works for. It travels in the
 * run's config under a key that LangGraph neither stores nor shows.
 */
export interface RunContext {
  activation: Activation;
  services: Services;
  /** The agent's runtime context: LangChain's node hooks see of it what their middleware's schema names. */
  context: Record<string, unknown>;
  /** What counts the calls to models; for calls that are no part of the graph. */
  callbacks: BaseCallbackHandler[];
  /** The last answer of a model in each step, by LangGraph's checkpoint_ns: LangChain throws it away when it errs. */
  answers: Map<string, AIMessage>;
  /** The unit of a request to a provider that the agent's own gate does not see. Throws where none is left. */
  takeModelUnit(): Promise<void>;
  /** The same for a call of a tool. */
  takeToolUnit(tool: string): Promise<void>;
  /** Ends the activation, for a reason that a policy gives. */
  stop(reason: DroverError): void;
}

export const RUN_KEY = "__drover";

/** Throws INTERNAL where a graph with a policy is called outside of `execute`. */
export function runOf(runtime: { configurable?: Record<string, unknown> | undefined }): RunContext {
  const run = runtime.configurable?.[RUN_KEY];
  if (run !== undefined) return run as RunContext;
  throw new DroverError(
    "INTERNAL",
    "An agent with a policy was called outside of a Drover run; run it with execute().",
  );
}
