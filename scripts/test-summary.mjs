/**
 * Counts what a run of vitest gave. A skipped test and one that is only announced are defects, and count as
 * failed; so does what went wrong outside tests: a file that can't be loaded, an unhandled rejection.
 *
 * @param {object | undefined} report vitest's JSON report; undefined when it wrote none
 * @param {number} exitCode vitest's
 * @param {{ partial?: boolean }} [options] `partial`: tests were chosen by name, the others are skipped on purpose
 * @returns {{ passed: number, failed: number, complaints: string[] }} `complaints` name what vitest's own output
 *   does not call a failure
 */
export function summarize(report, exitCode, { partial = false } = {}) {
  if (report === undefined) return { passed: 0, failed: 1, complaints: ["vitest wrote no report"] };
  let passed = 0;
  let failed = 0;
  const complaints = [];
  for (const file of report.testResults) {
    const tests = file.assertionResults;
    for (const test of tests) {
      if (test.status === "passed") passed++;
      else if (test.status === "failed") failed++;
      else if (!partial) {
        failed++;
        complaints.push(`${test.status}, not run: ${file.name} > ${test.fullName}`);
      }
    }
    const failedOutsideTests = file.status === "failed" && !tests.some(({ status }) => status === "failed");
    if (failedOutsideTests) {
      failed++;
      complaints.push(`failed outside its tests: ${file.name}`);
    }
  }
  if (exitCode !== 0 && failed === 0) {
    failed++;
    complaints.push(
      `vitest ended with exit code ${exitCode}: an error outside all tests, or no tests; see above`,
    );
  }
  return { passed, failed, complaints };
}
