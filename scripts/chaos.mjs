/**
 * `npm run chaos -- [--runs 100] [--workers 4] [--seed 1] [--lease-ms 5000] [--settle-ms 90000] [--every-ms 800]
 * [--only kill,drain,…] [--json]`: a fleet of the harness's agents, and everything done to it that the seed's plan says.
 * `--crash-points [--agents steps,team,receipts,…] [--every 1]` instead: a worker is killed at every command of a run in
 * turn. Exits with 1 where a promise was broken. `--json` prints the report alone.
 */
import { parseArgs } from "node:util";
import { receiptsAgent } from "./chaos-receipts.mjs";
import { guarded } from "./guard.mjs";
import { setupOrExit } from "./setup.mjs";

const number = (value, fallback) => (value === undefined ? fallback : Number(value));
const text = { type: "string" };
const { values } = parseArgs({
  options: {
    ...{
      runs: text,
      workers: text,
      seed: text,
      "lease-ms": text,
      "settle-ms": text,
      "every-ms": text,
      only: text,
      every: text,
      agents: text,
    },
    ...{ json: { type: "boolean", default: false }, "crash-points": { type: "boolean", default: false } },
    yes: { type: "boolean", default: false },
  },
});
if (!values.json) await setupOrExit({ yes: values.yes });
const chaos = await import("../libs/chaos/dist/index.js");
const say = values.json ? () => {} : (line) => console.error(line);
await guarded("chaos", values["crash-points"] ? crashPoints : run);

async function run() {
  const seed = number(values.seed, 1);
  const runs = number(values.runs, 100);
  const workers = number(values.workers, 4);
  const leaseMs = number(values["lease-ms"], 5000);
  const settleMs = number(values["settle-ms"], 90_000);
  const result = await chaos.runChaos({
    ...{ seed, runs, workers, leaseMs, settleMs, onProgress: say },
    ...(values["every-ms"] ? { everyMs: Number(values["every-ms"]) } : {}),
    ...(values.only ? { only: values.only.split(",") } : {}),
  });
  console.log(JSON.stringify(result.report, null, values.json ? 0 : 2));
  if (result.faults.length === 0) return 0;
  const command = `npm run chaos -- --seed ${seed} --runs ${runs} --workers ${workers} --lease-ms ${leaseMs}`;
  console.error(chaos.explain(result, command));
  return 1;
}

async function crashPoints() {
  const receipts = receiptsAgent();
  const names = values.agents?.split(",");
  const isWanted = ({ name }) => names?.includes(name) ?? true;
  const every = number(values.every, 1);
  const found = [];
  for (const [agents, root] of [[chaos.crashPointAgents], [[receipts.agent], receipts.root]]) {
    const wanted = agents.filter(isWanted);
    if (wanted.length === 0) continue;
    const report = await chaos.runCrashPoints({
      ...{ agents: wanted, every, onProgress: say },
      ...(root ? { root } : {}),
    });
    found.push(...report.agents);
  }
  receipts.close();
  console.log(JSON.stringify({ agents: found }, null, values.json ? 0 : 2));
  return found.every(({ differences }) => differences.length === 0) ? 0 : 1;
}
