/**
 * `npm run faults -- <fault>`: a fleet of two workers under load, watched by Prometheus with the alerts of infra/ (a minute of
 * theirs is three seconds here), and one fault. Prints where everything is and each alert as it fires and resolves;
 * whoever does the exercise names cause, affected runs and remedy from that, the dashboards, the logs and
 * docs/runbooks.md. Without a fault: the list.
 */
import { parseArgs } from "node:util";
import { startArena } from "./faults/arena.mjs";
import { FAULTS } from "./faults/faults.mjs";
import { findOrUnpackPrometheus } from "./setup/prometheus.mjs";
import { thisMachine } from "./setup/system.mjs";
import { root, setupOrExit } from "./setup.mjs";

/** Seconds for which alerts have time to resolve. */
const AFTERWARDS = 30;
const names = Object.keys(FAULTS);
const USAGE = `npm run faults -- [<fault>] [--secret] [--seconds 90] [--yes]

  --secret     does not say which fault it is before it is over; without a fault, any of them
  --seconds    how long the fault lasts; beginning and end take about a minute more
  --yes        install Redis without asking, where there is none

Ctrl-C ends the exercise, and says which fault it was. The faults:

${names.map((name) => `  ${name.padEnd(20)} ${FAULTS[name].what}`).join("\n")}`;

const { values, positionals } = readArguments();
const name = positionals[0] ?? (values.secret ? names[Math.floor(Math.random() * names.length)] : undefined);
const seconds = Number(values.seconds);
if (values.help || name === undefined) {
  console.log(USAGE);
  process.exit(0);
}
if (!names.includes(name)) refuse(`There is no fault '${name}'.`);
if (!(seconds > 0)) refuse("--seconds takes a number above 0.");
await setupOrExit({ yes: values.yes });
await findOrUnpackPrometheus(root, thisMachine());

const stopping = new AbortController();
// Not once: npm passes on the Ctrl-C that the terminal sends to everyone.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stopping.abort());

const arena = await startArena(root);
try {
  console.log(`Prometheus: ${arena.prometheus}/alerts · metrics: ${arena.metrics.join(" ")}`);
  console.log(`Logs: ${arena.logs} · command line: ${arena.commandLine} <command>`);
  const load = setInterval(() => arena.start("fine"), 500);
  await wait(5);
  console.log(
    `${values.secret ? "A fault" : inWords()} begins. It lasts ${seconds} seconds; Ctrl-C ends it.`,
  );
  const end = await FAULTS[name].begin(arena);
  await wait(seconds);
  console.log(`It is over. It was ${inWords()}.`);
  if (!stopping.signal.aborted) {
    await end();
    console.log(`Alerts have ${AFTERWARDS} seconds to resolve.`);
    await wait(AFTERWARDS);
  }
  clearInterval(load);
} finally {
  await arena.stop();
  console.log("Everything is stopped.");
}
process.exit(0);

function inWords() {
  return `${name}: ${FAULTS[name].what}`;
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "90" },
        secret: { type: "boolean", default: false },
        yes: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    return refuse(error.message);
  }
}

function refuse(why) {
  console.error(`${why}\n\n${USAGE}`);
  process.exit(2);
}

/** Until so many seconds are over, or somebody ends the exercise. */
async function wait(time) {
  if (stopping.signal.aborted) return;
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, time * 1000);
    stopping.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
