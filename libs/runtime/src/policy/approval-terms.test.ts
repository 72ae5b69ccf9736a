import { describe, expect, it } from "vitest";
import { termsFor } from "./approval-rules.js";
import { contradictions } from "./contradictions.js";
import { parsePolicy } from "./policy.js";

const terms = (approvals: Record<string, object>, tools: string[]) =>
  termsFor(parsePolicy({ approvals }), tools);

describe("the terms of a question", () => {
  it("are none where the policy says nothing", () => {
    expect(terms({ pay: {} }, ["pay"])).toBeUndefined();
  });

  it("are a tool's own", () => {
    expect(terms({ pay: { assignees: ["ada"], expiresMs: 5000, onExpire: "fail" } }, ["pay"])).toEqual({
      assignees: ["ada"],
      expiresMs: 5000,
      onExpire: "fail",
    });
  });

  it("of several tools are the narrowest, the shortest and the harshest", () => {
    const approvals = {
      pay: { assignees: ["ada", "bo"], expiresMs: 9000, onExpire: "approve" },
      post: { assignees: ["bo", "cy"], expiresMs: 5000 },
      look: {},
    };
    expect(terms(approvals, ["pay", "post", "look"])).toEqual({
      assignees: ["bo"],
      expiresMs: 5000,
      onExpire: "reject",
    });
  });

  it("may not end in what the policy does not allow", () => {
    const policy = parsePolicy({
      approvals: { pay: { decisions: ["reject"], expiresMs: 5000, onExpire: "approve" } },
    });
    expect(contradictions({ policy, tools: ["pay"], middleware: [] })).toEqual([
      expect.stringMatching(/onExpire is 'approve'/),
    ]);
  });
});
