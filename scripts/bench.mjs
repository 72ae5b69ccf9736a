/**
 * `npm run bench -- <name> [--json] [--runs <number>]`: measures on this machine, with processes and a Redis of its own. Standard
 * output is a table, or with --json one JSON object; progress goes to standard error. Without a name: the list.
 * Exit codes: 0 measured, 1 failed, 2 no such benchmark.
 */
import { setupOrExit } from "./setup.mjs";

const BENCHMARKS = {
  throughput: "one worker against the same agent in one process, and against plain BullMQ",
  checkpoints: "size, round trips and times of a thread's checkpoints after 10, 100 and 300 turns",
  memory: "bytes of Redis that a finished run of one model call takes, and what is left of it afterwards",
  scaling: "runs a second of one, two, four and eight worker processes, with a model that takes two seconds",
  soak: "memory of workers and Redis over 20,000 runs (--runs), and what is left when all is over",
  policy: "checkpoints and runs a second of an agent with a full policy against the bare agent",
  approvals:
    "listing a page of 10,000 questions that wait, and deciding one, while a worker has free slots only",
};

const args = process.argv.slice(2);
const json = args.includes("--json");
const runs = args.indexOf("--runs");
if (runs >= 0) process.env.BENCH_RUNS = args.splice(runs, 2)[1] ?? "";
const [name, ...others] = args.filter((arg) => arg !== "--json");

if (name === undefined) {
  process.stdout.write(list());
} else if (others.length > 0 || !Object.hasOwn(BENCHMARKS, name)) {
  process.stderr.write(`bench: there is no benchmark '${[name, ...others].join(" ")}'.\n${list()}`);
  process.exitCode = 2;
} else {
  await setupOrExit();
  const { measure, rows } = await import(`./bench/${name}.mjs`);
  const { tableOf } = await import("./bench/table.mjs");
  const figures = await measure((line) => process.stderr.write(`bench: ${line}\n`));
  process.stdout.write(`${json ? JSON.stringify(figures) : tableOf(rows(figures))}\n`);
}

function list() {
  const width = Math.max(...Object.keys(BENCHMARKS).map(({ length }) => length));
  const lines = Object.entries(BENCHMARKS).map(([key, about]) => `  ${key.padEnd(width)}  ${about}\n`);
  return `npm run bench -- <name> [--json], where the name is one of\n${lines.join("")}`;
}
