import { existsSync } from "node:fs";
import { join } from "node:path";
import { DroverError, NO_REDACTION, type Redactor } from "@drover/contracts";
import type { Client } from "@drover/queue";
import type { AgentRegistry } from "@drover/runtime";
import type { CliConfig } from "./config.js";

/**
 * The agents of the project's langgraph.json; null where there is none. Throws INVALID_AGENT and its kind.
 * @param build whether this machine may come to run them, for which providers' keys must be there
 */
export async function localAgents(config: CliConfig, build = false): Promise<AgentRegistry | null> {
  if (!existsSync(join(config.root, "langgraph.json"))) return null;
  const { loadAgents } = await import("@drover/runtime");
  return loadAgents({ root: config.root, env: config.env, fleetPolicy: config.fleetPolicy, build });
}

/**
 * What a producer takes out of requests: the rules of the project's agents. Where the agents are not here, a
 * request leaves as it is, and the workers redact what they write.
 */
export async function redactorOf(
  config: CliConfig,
  agents: AgentRegistry | null,
): Promise<(agent: string) => Redactor> {
  if (!agents) return () => NO_REDACTION;
  const { redactorsOf } = await import("@drover/worker");
  const redactors = redactorsOf(agents.list(), { hashKey: config.piiHashKey });
  return (agent) => redactors.get(agent) ?? NO_REDACTION;
}

/** How to connect where a person's words may be written. Without words nothing is loaded, which takes a while. */
export async function withRules(
  config: CliConfig,
  words: string | undefined,
): Promise<{ redactorOf?: (agent: string) => Redactor }> {
  return words === undefined ? {} : { redactorOf: await redactorOf(config, await localAgents(config)) };
}

/** Throws UNKNOWN_AGENT unless the project has the agent or a worker ever announced it. */
export async function assertKnown(name: string, agents: AgentRegistry | null, client: Client): Promise<void> {
  const here = agents?.list().map((agent) => agent.name) ?? [];
  const announced = Object.keys(await client.state.workers.agents());
  const known = [...new Set([...here, ...announced])].sort();
  if (known.includes(name)) return;
  const which = known.length > 0 ? `Known are: ${known.join(", ")}.` : "None is known here.";
  throw new DroverError(
    "UNKNOWN_AGENT",
    `There is no agent '${name}'. ${which} A project names its agents in langgraph.json.`,
  );
}
