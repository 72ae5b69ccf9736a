import { DroverError, isDroverError } from "@drover/contracts";
import type { Command } from "commander";
import { localAgents } from "../agents.js";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { modelOf, offlineNotice } from "../offline.js";
import { brief } from "../output/text.js";

export function add(program: Command): void {
  const agents = program.command("agents").description("Shows which agents there are.");
  agents
    .command("list")
    .description("Lists the agents of this project and those that workers announced.")
    .addHelpText("after", "\nExample:\n  $ drover agents list")
    .action(act(list));
  agents
    .command("show")
    .description(
      "Shows an agent of this project: what it does in which order and why, and its policy in effect.",
    )
    .argument("<name>")
    .addHelpText("after", "\nExample:\n  $ drover agents show receipts --json | jq .settings")
    .action(act(show));
}

/** name → version, as workers announced them; empty where there is no Redis yet. */
async function announcedAgents(cli: Cli): Promise<Record<string, string>> {
  try {
    return await withConnection(cli, {}, ({ client }) => client.state.workers.agents());
  } catch (error) {
    if (isDroverError(error, "NO_REDIS")) return {};
    throw error;
  }
}

async function list(cli: Cli): Promise<ExitCode | undefined> {
  const { out, config } = cli;
  const agents = await localAgents(config);
  const announced = await announcedAgents(cli);
  const here = new Map(agents?.list().map((agent) => [agent.name, agent]));
  const names = [...new Set([...here.keys(), ...Object.keys(announced)])].sort();
  const found = names.map((name) => ({
    name,
    version: here.get(name)?.version ?? null,
    announced: announced[name] ?? null,
    model: modelOf(name, agents),
    description: here.get(name)?.description ?? null,
  }));
  for (const agent of found) out.value(agent);
  if (found.length === 0) out.line("There is no agent here. A project names its agents in langgraph.json.");
  else {
    out.table(
      [
        { head: "Agent" },
        { head: "Version here" },
        { head: "With workers" },
        { head: "Model", least: 12 },
        { head: "Description" },
      ],
      found.map((a) => [a.name, a.version ?? "", a.announced ?? "", a.model ?? "", a.description ?? ""]),
    );
  }
  return undefined;
}

async function show(cli: Cli, name: string): Promise<ExitCode | undefined> {
  const { out, config } = cli;
  const agents = await localAgents(config);
  if (!agents) {
    throw new DroverError("UNKNOWN_AGENT", `There is no langgraph.json in ${config.root} or above.`);
  }
  const { describeAgent } = await import("@drover/runtime");
  const model = modelOf(name, agents);
  const agent = describeAgent(agents.get(name));
  const { behaviours, settings } = agent;
  out.value({ ...agent, model });
  out.fields([
    ["agent", name],
    ["version", agent.version],
    ["description", agent.description],
    ["model", model ?? "as the graph has it"],
    ["", offlineNotice(model)],
    ["fallbacks", agent.models.slice(1).map(brief).join(", ")],
    ["tools", agent.tools.join(", ")],
    ["most steps", agent.recursionLimit === null ? null : String(agent.recursionLimit)],
    ["fleet's policy", agent.fleetPolicy],
  ]);
  if (behaviours.length > 0) {
    out.line("\nWhat happens, in order; of one moment the first is the outermost:");
    out.table(
      [{ head: "Moment" }, { head: "Behaviour" }, { head: "Why there", least: 40 }],
      behaviours.map(({ moment, name: what, why }) => [moment, what, why]),
    );
  }
  if (settings.length > 0) {
    out.line("\nThe policy in effect:");
    out.table(
      [{ head: "Setting" }, { head: "Value", least: 20 }, { head: "From" }],
      settings.map(({ path, value, from }) => [path, brief(value), from]),
    );
  }
  return undefined;
}
