/**
 * `npm test [-- <vitest filters>]`: set-up, format and lint, types and build, tests' types, tests. Every phase runs, so that one
 * round shows all there is to mend, unless set-up fails. The last line is `N passed, N failed`, alone; a phase that
 * fails before the tests counts as one failed. Exits with code 1 on any failure. Asks nothing unless on a terminal.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./setup/build.mjs";
import { SetupError, thisMachine } from "./setup/system.mjs";
import { root, setup } from "./setup.mjs";
import { summarize } from "./test-summary.mjs";

const args = process.argv.slice(2);
const filters = args.filter((arg) => arg !== "--yes");
const total = { passed: 0, failed: 0, complaints: [] };

const ready = await phase("set-up", () => setup({ forTests: true, yes: args.includes("--yes") }));
if (ready) {
  await phase("format and lint", () => mustSucceed("node_modules/@biomejs/biome/bin/biome", ["check"]));
  await phase("types and build", () => build(root, thisMachine(), { always: true }));
  await phase("types of tests", () =>
    mustSucceed("node_modules/typescript/bin/tsc", ["-p", "tsconfig.tests.json"]),
  );
  await tests();
}

for (const complaint of total.complaints) console.log(complaint);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** Runs one phase before the tests and says how it went. */
async function phase(name, work) {
  const start = performance.now();
  console.log(`── ${name}`);
  try {
    await work();
  } catch (error) {
    total.failed++;
    console.log(`── ${name}: failed. ${error instanceof SetupError ? error.message : error.stack}`);
    return false;
  }
  console.log(`── ${name}: ok, ${seconds(start)}`);
  return true;
}

async function tests() {
  const start = performance.now();
  console.log("── tests");
  const folder = mkdtempSync(join(tmpdir(), "drover-test-"));
  const reportFile = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const code = await runNode("node_modules/vitest/vitest.mjs", ["run", ...reporters, ...filters]);
  const report = existsSync(reportFile) ? JSON.parse(readFileSync(reportFile, "utf8")) : undefined;
  rmSync(folder, { recursive: true });
  const partial = filters.some((arg) => /^(-t|--testNamePattern)/.test(arg));
  const { passed, failed, complaints } = summarize(report, code, { partial });
  total.passed += passed;
  total.failed += failed;
  total.complaints.push(...complaints);
  console.log(`── tests: ${failed === 0 ? "ok" : "failed"}, ${seconds(start)}`);
}

async function mustSucceed(script, scriptArgs) {
  const code = await runNode(script, scriptArgs);
  if (code !== 0)
    throw new SetupError(`Exit code ${code}, see above. Much of it is mended by: npm run format`);
}

function runNode(script, scriptArgs) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, script), ...scriptArgs], {
      cwd: root,
      stdio: "inherit",
    });
    child.once("close", (code) => resolve(code ?? 1));
  });
}

function seconds(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}
