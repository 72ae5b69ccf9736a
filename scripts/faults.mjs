/**
 * `npm run faults -- <fault> [--seconds 90]`: a fleet of two workers under load, watched by Prometheus with the
 * alerts of infra/ (a minute of theirs is three seconds here), and one fault. Prints where everything is and each alert as
 * it fires and resolves; whoever does the exercise names cause, affected runs and remedy from that, the dashboards, the
 * logs and docs/runbooks.md. Without a fault: the list. `--secret` picks one and says only at the end which it was.
 */
import { parseArgs } from "node:util";
import { startArena } from "./faults/arena.mjs";
import { FAULTS } from "./faults/faults.mjs";
import { findOrUnpackPrometheus } from "./setup/prometheus.mjs";
import { thisMachine } from "./setup/system.mjs";
import { root, setupOrExit } from "./setup.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "90" },
    secret: { type: "boolean", default: false },
    yes: { type: "boolean", default: false },
  },
});
const names = Object.keys(FAULTS);
const name = values.secret ? names[Math.floor(Math.random() * names.length)] : positionals[0];
if (!names.includes(name)) {
  for (const [known, { what }] of Object.entries(FAULTS)) console.log(`${known.padEnd(20)} ${what}`);
  process.exit(name === undefined ? 0 : 2);
}
await setupOrExit({ yes: values.yes });
await findOrUnpackPrometheus(root, thisMachine());

const seconds = Number(values.seconds);
const stopping = new AbortController();
process.once("SIGINT", () => stopping.abort());
process.once("SIGTERM", () => stopping.abort());
const wait = (ms) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stopping.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

const arena = await startArena(root);
try {
  console.log(`Prometheus: ${arena.prometheus}/alerts · metrics: ${arena.metrics.join(" ")}`);
  console.log(`Logs: ${arena.logs} · command line: ${arena.commandLine} <command>`);
  const load = setInterval(() => arena.start("fine"), 500);
  await wait(5000);
  console.log(values.secret ? "A fault begins." : `${name} begins: ${FAULTS[name].what}.`);
  const end = await FAULTS[name].begin(arena);
  await wait((seconds * 1000) / 2);
  await end();
  console.log("It is over.");
  await wait((seconds * 1000) / 2);
  clearInterval(load);
  if (values.secret) console.log(`It was ${name}: ${FAULTS[name].what}.`);
} finally {
  await arena.stop();
}
