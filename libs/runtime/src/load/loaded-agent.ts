import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { DroverError } from "@drover/contracts";
import { buildAgent } from "../agent/build-agent.js";
import { type CompiledGraph, compiledGraphIn } from "../agent/compiled-graph.js";
import { type AgentDefinition, isAgentDefinition } from "../agent/define-agent.js";
import { resolveModels } from "../agent/models.js";
import { withFleetPolicy } from "../fleet/apply.js";
import type { FleetPolicy } from "../fleet/read.js";
import { timesOfGraphs } from "../fleet/time-limits.js";
import type { Environment } from "../models/index.js";
import type { PeoplePolicy } from "../policy/approval-rules.js";
import { parsePolicy, type Times } from "../policy/policy.js";
import { recursionLimitOf } from "../policy/recursion-limit.js";
import type { GraphEntry } from "./config-file.js";

/** An agent that this process can run. */
export interface LoadedAgent {
  readonly name: string;
  /** The definition's; for a graph without one, the first 12 digits of its file's SHA-256. */
  readonly version: string;
  readonly description: string | undefined;
  /** Undefined for a graph that was not made by `defineAgent`: it has no policy but what the fleet says of graphs. */
  readonly definition: AgentDefinition | undefined;
  /** The policy of the fleet, which the definition's was put under. */
  readonly fleet?: FleetPolicy | undefined;
  /** The definition's policy; for other graphs, what the fleet's says. */
  readonly people: PeoplePolicy;
  /** How long an activation and its steps may take: the definition's policy; for other graphs, what the fleet's says. */
  readonly times: Times;
  /** Supersteps of one activation; undefined leaves it to the graph. */
  readonly recursionLimit: number | undefined;
  /**
   * The graph, built once for this process: a failure stays one. What belongs to one run reaches it through the run's
   * config. Only a function that takes LangGraph's config is asked again, with the config of each activation. Throws
   * MISSING_API_KEY and its kind.
   */
  compile(config?: Record<string, unknown>): Promise<CompiledGraph>;
}

/** The PII rules in force for an agent: its policy's, or the fleet's where it has no policy. */
export function piiRulesOf({ definition, fleet }: LoadedAgent): readonly PiiRule[] {
  return definition?.policy.pii ?? fleet?.ceilings.pii ?? [];
}

type PiiRule = AgentDefinition["policy"]["pii"][number];

interface Origin {
  root: string;
  entry: GraphEntry;
  where: string;
  env: Environment;
  fleet: FleetPolicy | undefined;
}

type GraphFunction = (config?: Record<string, unknown>) => unknown;

/** Throws INVALID_AGENT for what is no agent. */
export async function toLoadedAgent(exported: unknown, origin: Origin): Promise<LoadedAgent> {
  const { entry } = origin;
  const value =
    typeof exported === "function" ? await (exported as GraphFunction)({ configurable: {} }) : exported;
  if (isAgentDefinition(value)) {
    if (value.name !== entry.name) {
      throw new DroverError(
        "INVALID_AGENT",
        `the definition is named '${value.name}'; give it and its key in langgraph.json one name.`,
      );
    }
    return fromDefinition(value, origin.env, entry.description, origin.fleet);
  }
  const graph = graphOf(value);
  const perRun = typeof exported === "function" && exported.length > 0;
  return {
    name: entry.name,
    version: await contentVersion(resolve(origin.root, entry.file)),
    description: entry.description,
    definition: undefined,
    fleet: origin.fleet,
    people: peopleOf(origin.fleet),
    times: timesOfGraphs(origin.fleet),
    recursionLimit: undefined,
    compile: async (config) =>
      perRun && config ? graphOf(await (exported as GraphFunction)(config)) : graph,
  };
}

/** The agent of a definition, without a file, built. Throws MISSING_API_KEY and its kind. */
export async function loadDefinition(
  given: AgentDefinition,
  env: Environment,
  fleet?: FleetPolicy,
): Promise<LoadedAgent> {
  const agent = fromDefinition(given, env, undefined, fleet);
  await agent.compile();
  return agent;
}

function fromDefinition(
  given: AgentDefinition,
  env: Environment,
  description?: string,
  fleet?: FleetPolicy,
): LoadedAgent {
  const definition = fleet ? withFleetPolicy(given, fleet) : given;
  let graph: Promise<CompiledGraph> | undefined;
  const build = async () => buildAgent(definition, await resolveModels(definition, env));
  return {
    name: definition.name,
    version: definition.version,
    description: definition.description ?? description,
    definition,
    fleet,
    people: definition.policy,
    times: definition.policy.timeLimits ?? {},
    recursionLimit: recursionLimitOf(definition),
    compile: () => {
      graph ??= build();
      return graph;
    },
  };
}

function peopleOf(fleet: FleetPolicy | undefined): PeoplePolicy {
  const { approvals = {}, questions, notify, signedMessages = [] } = fleet?.defaults ?? {};
  const signed = new Set([...(fleet?.ceilings.signedMessages ?? []), ...signedMessages]);
  const policy = parsePolicy({ approvals, questions, notify, signedMessages: [...signed] });
  return {
    approvals: policy.approvals,
    questions: policy.questions,
    notify: policy.notify,
    signedMessages: policy.signedMessages,
  };
}

function graphOf(value: unknown): CompiledGraph {
  const graph = compiledGraphIn(value);
  if (graph) return graph;
  const uncompiled = typeof value === "object" && value !== null && "compile" in value;
  throw new DroverError(
    "INVALID_AGENT",
    uncompiled
      ? "the graph is not compiled; export graph.compile()."
      : "it is no agent; export what defineAgent(), createAgent() or StateGraph.compile() returns, or a function that returns it.",
  );
}

async function contentVersion(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex")
    .slice(0, 12);
}
