import { expect, it } from "vitest";
import { TRACEPARENT, traceparentOf } from "./traces.js";

it("a run that nobody traced has a context of its own, the same wherever it is worked on", () => {
  const one = traceparentOf("5f0c2d9e-0000-4000-8000-000000000001");
  expect(one).toMatch(TRACEPARENT);
  expect(traceparentOf("5f0c2d9e-0000-4000-8000-000000000001")).toBe(one);
  expect(traceparentOf("5f0c2d9e-0000-4000-8000-000000000002")).not.toBe(one);
});
