/** A worker is killed at every command of a run in turn; whoever takes the run over must bring it to the same end. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RedisServer, startRedis } from "@drover/embedded";
import { builtInProject, type ChaosAgent } from "./agents.js";
import { type Ended, runOnce } from "./crash-run.js";
import { DEAD_VARIABLE, LEDGER_VARIABLE } from "./ledger.js";

export type When = "before" | "after";

export interface CrashPointsOptions {
  agents: readonly ChaosAgent[];
  /** A folder with langgraph.json. Default: the harness's own agents. */
  root?: string;
  /** Only each `every`th point, from the first on. Default 1: all of them. */
  every?: number;
  /** How many points are tried at a time. Default 2. */
  atOnce?: number;
  onProgress?: (line: string) => void;
}

export interface AgentCrashPoints {
  agent: string;
  /** Commands of one undisturbed run. */
  commands: number;
  /** How many kills were tried. */
  points: number;
  /** What ended otherwise than the undisturbed run, or could not be tried; empty if nothing did. */
  differences: string[];
  /** Runs that ended with EFFECT_UNKNOWN, of an agent whose tool nobody can be asked about. */
  unknownEffects: number;
  /** The most requests to a model beyond those of the undisturbed run. */
  repeatedModelCalls: number;
  /** The longest time from a kill to the end of the run, in milliseconds. */
  longestMs: number;
}

export async function runCrashPoints(options: CrashPointsOptions): Promise<{ agents: AgentCrashPoints[] }> {
  const folder = mkdtempSync(join(tmpdir(), "drover-crash-"));
  const ledger = join(folder, "ledger.jsonl");
  writeFileSync(ledger, "");
  // Whoever takes over lives in this very process.
  process.env[LEDGER_VARIABLE] = ledger;
  process.env[DEAD_VARIABLE] = "1";
  for (const { env } of options.agents) Object.assign(process.env, env);
  const redis = await startRedis();
  try {
    const found: AgentCrashPoints[] = [];
    for (const agent of options.agents) found.push(await tryAgent(agent, { redis, ledger, folder }, options));
    return { agents: found };
  } finally {
    delete process.env[LEDGER_VARIABLE];
    delete process.env[DEAD_VARIABLE];
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Place {
  redis: RedisServer;
  ledger: string;
  folder: string;
}

async function tryAgent(
  agent: ChaosAgent,
  { redis, ledger, folder }: Place,
  { root = builtInProject, every = 1, atOnce = 2, onProgress = () => {} }: CrashPointsOptions,
): Promise<AgentCrashPoints> {
  const countFile = join(folder, `${agent.name}.txt`);
  const settings = { agent, root, ledger, redisUrl: redis.url };
  const model = await runOnce({ ...settings, label: `${agent.name}-0`, countFile });
  const names = readFileSync(countFile, "utf8").split("\n").filter(Boolean);
  onProgress(`${agent.name}: ${names.length} commands, undisturbed: ${told(model)}`);
  const points = names.flatMap((name, i) =>
    i % every === 0 ? (["before", "after"] as const).map((when) => ({ at: i + 1, when, name })) : [],
  );
  const result: AgentCrashPoints = {
    agent: agent.name,
    commands: names.length,
    points: points.length,
    differences: [],
    unknownEffects: 0,
    repeatedModelCalls: 0,
    longestMs: 0,
  };
  const queue = [...points];
  const lane = async (): Promise<void> => {
    for (let point = queue.shift(); point; point = queue.shift()) {
      const { at, when, name } = point;
      const label = `${agent.name}-${at}-${when}`;
      const here = `killed ${when} command ${name}: `;
      const ended = await runOnce({ ...settings, label, crash: { at, when } }).catch((error: unknown) => {
        result.differences.push(`${here}${String(error)}`);
        return null;
      });
      if (!ended) continue;
      if (agent.mayNotKnow && ended.code === "EFFECT_UNKNOWN" && ended.once <= 1) result.unknownEffects += 1;
      else if (told(ended) !== told(model))
        result.differences.push(`${here}${told(ended)} instead of ${told(model)}`);
      result.repeatedModelCalls = Math.max(result.repeatedModelCalls, ended.modelCalls - model.modelCalls);
      result.longestMs = Math.max(result.longestMs, ended.recoveryMs);
      onProgress(`${agent.name}: ${here}${ended.recoveryMs} ms`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return result;
}

/** What must be the same. Labels are left out of the output. */
function told({ status, endedBy, code, output, questions, once, label }: Ended): string {
  const shown = JSON.stringify(output)?.replaceAll(label, "<run>");
  return JSON.stringify({ status, endedBy, code, output: shown, questions, once });
}
