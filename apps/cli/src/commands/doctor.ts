import { isDroverError } from "@drover/contracts";
import type { AgentRegistry } from "@drover/runtime";
import { asDroverError } from "@drover/state";
import type { Command } from "commander";
import { localAgents } from "../agents.js";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import { type Finding, note, ok, wrong } from "../doctor/finding.js";
import { agentFindings, fleetFindings } from "../doctor/fleet-findings.js";
import { redisFindings } from "../doctor/redis-findings.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import type { Output } from "../output/output.js";

export function add(program: Command): void {
  program
    .command("doctor")
    .description("Looks at Redis, its settings, the clock, the workers and the agents.")
    .addHelpText(
      "after",
      "\nExamples:\n  $ drover doctor\n  $ REDIS_URL=redis://10.0.0.5:6379 drover doctor --json\n\nExit codes: 0 nothing is wrong, 1 something is.",
    )
    .action(act(doctor));
}

async function doctor(cli: Cli): Promise<ExitCode> {
  const { out } = cli;
  const [agents, agentTrouble] = await lookAtAgents(cli);
  const findings = [...(await lookAtRedis(cli, agents)), ...agentTrouble];
  for (const finding of findings) {
    out.value(finding);
    print(out, finding);
  }
  const broken = findings.filter(({ state }) => state === "wrong").length;
  out.line();
  out.line(broken === 0 ? out.colours.green("Nothing is wrong.") : out.colours.red(`${broken} to mend.`));
  return broken === 0 ? EXIT.ok : EXIT.failed;
}

async function lookAtAgents({ config }: Cli): Promise<[AgentRegistry | null, Finding[]]> {
  try {
    return [await localAgents(config, config.redisUrl === undefined), []];
  } catch (error) {
    if (!isDroverError(error)) throw error;
    return [null, [wrong("agents", `${error.code}: ${error.message}`, "docs/errors.md says more.")]];
  }
}

async function lookAtRedis(cli: Cli, agents: AgentRegistry | null): Promise<Finding[]> {
  const { config } = cli;
  try {
    return await withConnection(cli, {}, async ({ client, redisInWords }) => {
      const ofRedis = await redisFindings(client);
      const isShort = ofRedis.some(({ what, state }) => what === "memory" && state === "wrong");
      return [
        ok("Redis", redisInWords),
        ...ofRedis,
        ...(await fleetFindings(client, config.invocation, isShort)),
        ...agentFindings(agents, await client.state.workers.agents()),
      ];
    });
  } catch (raw) {
    const error = asDroverError(raw);
    if (!isDroverError(error)) throw error;
    if (config.redisUrl !== undefined || error.code !== "NO_REDIS") {
      return [wrong("Redis", `${error.code}: ${error.message}`, "Nothing else could be looked at.")];
    }
    return [...(await withoutRedis(cli)), ...agentFindings(agents, {})];
  }
}

/** A project that has not been started yet: whether it could be. */
async function withoutRedis({ config }: Cli): Promise<Finding[]> {
  const { findRedisBinary } = await import("@drover/embedded");
  const binary = findRedisBinary();
  if (binary) return [note("Redis", `none yet; ${binary} is here`, `Start it: ${config.invocation} dev`)];
  return [
    wrong(
      "Redis",
      "REDIS_URL is not set, and there is no redis-server on the PATH",
      "Set REDIS_URL, or install one (apt-get install redis-server, brew install redis).",
    ),
  ];
}

function print(out: Output, { what, state, message, mend }: Finding): void {
  const { colours } = out;
  const marks = { ok: colours.green("ok   "), note: colours.yellow("note "), wrong: colours.red("wrong") };
  out.line(`${marks[state]}  ${what.padEnd(12)} ${message}`);
  if (mend) out.line(`       ${" ".repeat(12)} ${colours.bold(mend)}`);
}
