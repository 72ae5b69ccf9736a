import { expect, test } from "vitest";
import { summarize } from "./test-summary.mjs";

const file = (status, ...statuses) => ({
  name: "a.test.ts",
  status,
  assertionResults: statuses.map((test, index) => ({ status: test, fullName: `test ${index}` })),
});

const report = (...testResults) => ({ testResults });

test("counts tests over all files", () => {
  const two = report(file("passed", "passed", "passed"), file("failed", "passed", "failed"));
  expect(summarize(two, 1)).toEqual({ passed: 3, failed: 1, complaints: [] });
});

test.each(["skipped", "pending", "todo"])("a test that is %s counts as failed and is named", (status) => {
  const { failed, complaints } = summarize(report(file("passed", "passed", status)), 0);
  expect(failed).toBe(1);
  expect(complaints).toEqual([`${status}, not run: a.test.ts > test 1`]);
});

test("tests that a filter by name left out do not count", () => {
  const counted = summarize(report(file("passed", "passed", "skipped")), 0, { partial: true });
  expect(counted).toEqual({ passed: 1, failed: 0, complaints: [] });
});

test("a file that can't be loaded counts as one failed", () => {
  expect(summarize(report(file("failed")), 1)).toMatchObject({ passed: 0, failed: 1 });
});

test("an error outside all tests counts as one failed", () => {
  const { passed, failed, complaints } = summarize(report(file("passed", "passed")), 1);
  expect([passed, failed]).toEqual([1, 1]);
  expect(complaints[0]).toContain("outside all tests");
});

test("no report is a failure", () => {
  expect(summarize(undefined, 0)).toMatchObject({ passed: 0, failed: 1 });
});
