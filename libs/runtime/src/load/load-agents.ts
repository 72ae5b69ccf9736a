import { resolve } from "node:path";
import { type ConcurrencyLimits, DroverError, NO_CONCURRENCY_LIMITS } from "@drover/contracts";
import { readFleetPolicy } from "../fleet/read.js";
import type { Environment } from "../models/index.js";
import { readConfigFile } from "./config-file.js";
import { atPlace, importExport } from "./import-export.js";
import { type LoadedAgent, toLoadedAgent } from "./loaded-agent.js";

export interface LoadOptions {
  /** The folder that holds langgraph.json. */
  root: string;
  /** The environment of the process: keys of providers, credentials. */
  env: Environment;
  /** The fleet's policy, a JSON file; a relative path begins at `root`. */
  fleetPolicy?: string | undefined;
  /**
   * Default true. False leaves building an agent of `defineAgent` to its first run: who only describes agents and
   * checks answers to them needs no provider's key.
   */
  build?: boolean | undefined;
}

export interface AgentRegistry {
  /** Throws UNKNOWN_AGENT, with the names that are known. */
  get(name: string): LoadedAgent;
  list(): LoadedAgent[];
  /** How many runs may be worked on at once, as the fleet's policy says. */
  readonly concurrency: ConcurrencyLimits;
}

/**
 * Loads, and by default builds, every agent that `langgraph.json` names. Strict: whatever is wrong is refused here, with
 * the file and the path of the key, and not when a run needs it.
 * @throws DroverError INVALID_AGENT, INVALID_POLICY, UNKNOWN_MODEL_PROVIDER, MISSING_API_KEY
 */
export async function loadAgents({
  root,
  env,
  fleetPolicy,
  build = true,
}: LoadOptions): Promise<AgentRegistry> {
  const fleet = fleetPolicy === undefined ? undefined : await readFleetPolicy(resolve(root, fleetPolicy));
  const config = await readConfigFile(root, env);
  const agents: LoadedAgent[] = [];
  for (const entry of config.graphs) {
    const where = `${config.path}: graphs.${entry.name}`;
    const exported = await importExport(root, entry, where);
    const origin = { root, entry, where, env: config.env, fleet };
    try {
      const agent = await toLoadedAgent(exported, origin);
      if (build) await agent.compile();
      agents.push(agent);
    } catch (error) {
      throw atPlace(error, where, "the agent could not be built");
    }
  }
  return registryOf(agents, fleet?.concurrency);
}

/** A registry of agents that were loaded otherwise; a test's, for example. */
export function registryOf(
  agents: readonly LoadedAgent[],
  concurrency: ConcurrencyLimits = NO_CONCURRENCY_LIMITS,
): AgentRegistry {
  const byName = new Map<string, LoadedAgent>();
  for (const agent of agents) {
    if (byName.has(agent.name)) {
      throw new DroverError("INVALID_AGENT", `Two agents are named '${agent.name}'; rename one.`);
    }
    byName.set(agent.name, agent);
  }
  return {
    get(name) {
      const agent = byName.get(name);
      if (agent) return agent;
      const known = [...byName.keys()].join(", ") || "none";
      throw new DroverError(
        "UNKNOWN_AGENT",
        `No agent is named '${name}'. This project has: ${known}. Name it under "graphs" in langgraph.json.`,
      );
    },
    list: () => [...byName.values()],
    concurrency,
  };
}
