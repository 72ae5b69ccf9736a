import { describe, expect, it } from "vitest";
import { isDroverError } from "./errors.js";
import { assertMove, canMove, FINAL_STATUSES, isFinal, RUN_STATUSES, sourcesOf } from "./run.js";

describe("the states of a run", () => {
  it("leave a final state only by an operator's retry, and success not at all", () => {
    for (const from of FINAL_STATUSES) {
      const ways = RUN_STATUSES.filter((to) => canMove(from, to));
      expect(ways).toEqual(from === "success" ? [] : ["pending"]);
      expect(isFinal(from)).toBe(true);
    }
  });

  it("are all reachable, and from each that is not final an end can be reached", () => {
    const reach = (start: string): Set<string> => {
      const seen = new Set([start]);
      for (const from of seen)
        for (const to of RUN_STATUSES) if (canMove(from as "pending", to)) seen.add(to);
      return seen;
    };
    expect(reach("pending")).toEqual(new Set(RUN_STATUSES));
    for (const status of RUN_STATUSES) {
      expect(isFinal(status) || [...reach(status)].some((to) => to === "cancelled")).toBe(true);
    }
  });

  it("are run only after they waited", () => {
    expect(sourcesOf("running")).toEqual(["pending"]);
    expect(() => assertMove("interrupted", "running", "r")).toThrow(
      /r is interrupted; it cannot become running/,
    );
    try {
      assertMove("success", "pending", "r");
    } catch (error) {
      expect(isDroverError(error, "ILLEGAL_TRANSITION")).toBe(true);
    }
  });
});
