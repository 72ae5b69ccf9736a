/**
 * `npm run features [-- --json]`: which features of docs/features.md are proved by their tests, now. With --json one
 * value: [{"feature", "test", "passed"}]. Exits with code 1 if one is not. Needs a build (`npm run build`).
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rowsOf } from "./features/page.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const asJson = process.argv.includes("--json");
const rows = rowsOf(root);
const results = await testResults([...new Set(rows.map(({ file }) => file))]);
const found = rows.map(({ feature, file, test }) => {
  const named = results.filter(({ path, name }) => path.endsWith(`/${file}`) && name.includes(test));
  return {
    feature,
    test: `${file} > ${test}`,
    passed: named.length > 0 && named.every(({ status }) => status === "passed"),
  };
});
const failed = found.filter(({ passed }) => !passed);
if (asJson) console.log(JSON.stringify(found, null, 2));
else {
  for (const { feature, test, passed } of found)
    console.log(`${passed ? "ok  " : "FAIL"}  ${feature}  (${test})`);
  console.log(`${found.length - failed.length} of ${found.length} features are proved`);
}
process.exitCode = failed.length === 0 ? 0 : 1;

/** @returns {Promise<{ path: string, name: string, status: string }[]>} */
async function testResults(files) {
  const folder = mkdtempSync(join(tmpdir(), "drover-features-"));
  const report = join(folder, "report.json");
  const args = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--reporter=dot",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...files,
  ];
  // What vitest says goes to standard error: standard output is the result's.
  await new Promise((resolve) =>
    spawn(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] }).once("exit", resolve),
  );
  const json = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : { testResults: [] };
  rmSync(folder, { recursive: true });
  return json.testResults.flatMap(({ name: path, assertionResults }) =>
    assertionResults.map(({ fullName: name, status }) => ({ path, name, status })),
  );
}
