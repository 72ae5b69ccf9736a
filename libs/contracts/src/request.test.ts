import { describe, expect, it } from "vitest";
import { isDroverError } from "./errors.js";
import { approvalId, derivedUuid } from "./ids.js";
import { parseOrThrow } from "./parse.js";
import { runRequestSchema } from "./request.js";

const parse = (value: unknown) => parseOrThrow(runRequestSchema, value, "The run");
const problem = (value: unknown): { code: string; message: string } => {
  try {
    parse(value);
  } catch (error) {
    if (isDroverError(error)) return error;
  }
  throw new Error("it was accepted");
};

describe("a request", () => {
  it("gets its defaults in one place", () => {
    expect(parse({ agent: "a", input: "x" })).toEqual({
      agent: "a",
      input: "x",
      tenant: "default",
      priority: 5,
      delayMs: 0,
      maxAttempts: 3,
      multitaskStrategy: "enqueue",
      tags: [],
      metadata: {},
      context: {},
      streamMode: [],
    });
  });

  it("is refused with the path of every wrong key", () => {
    const { code, message } = problem({ agent: "", input: 7, priority: 99, threadId: "" });
    expect(code).toBe("INVALID_INPUT");
    for (const path of ["agent", "input", "priority", "threadId"]) expect(message).toContain(`${path}:`);
    expect(problem({ agent: "a", input: "x", deadline: 5 }).message).toContain("deadline");
    expect(problem({ agent: "a", input: "x", threadId: "\ud800" }).message).toContain("well-formed");
    expect(problem(null).code).toBe("INVALID_INPUT");
  });

  it("cannot set what only a policy may set", () => {
    const keys = [
      "threadLimit",
      "interruptOn",
      "applyToInput",
      "exitBehavior",
      "runToolCallCount",
      "__drover",
      "lc_x",
    ];
    for (const key of keys) {
      expect(problem({ agent: "a", input: "x", context: { [key]: 1 } }).code).toBe("RESERVED_KEY");
      expect(problem({ agent: "a", input: { [key]: 1 } }).code).toBe("RESERVED_KEY");
    }
    expect(
      parse({ agent: "a", input: { topic: "x" }, context: { closedUntil: { $date: "2026-08-31" } } }),
    ).toBeTruthy();
  });
});

describe("ids that follow from their parts", () => {
  it("are UUIDs, the same for the same parts, and do not run together", () => {
    expect(derivedUuid("a", "b")).toBe(derivedUuid("a", "b"));
    expect(derivedUuid("a", "b")).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(derivedUuid("a", "b")).not.toBe(derivedUuid("ab"));
    expect(derivedUuid("a,b")).not.toBe(derivedUuid("a", "b"));
    expect(approvalId("run", 1, "i")).toMatch(/^apr_[0-9a-f]{20}$/);
  });
});
