import { describe, expect, it } from "vitest";
import { builtInAgents } from "./agents.js";
import { runChaos } from "./chaos.js";
import { runCrashPoints } from "./crash-points.js";
import { explain } from "./explain.js";
import { makePlan } from "./plan.js";
import { FAULTS } from "./report.js";

const options = { runs: 40, workers: 3, leaseMs: 1000, agents: builtInAgents };

describe("a plan", () => {
  it("follows from its seed", () => {
    expect(makePlan({ ...options, seed: 3 })).toEqual(makePlan({ ...options, seed: 3 }));
    expect(makePlan({ ...options, seed: 4 })).not.toEqual(makePlan({ ...options, seed: 3 }));
  });

  it("has every kind of disturbance, however short it is", () => {
    const kinds = new Set(makePlan({ ...options, seed: 1 }).events.map(({ what }) => what));
    expect(kinds.size).toBe(14);
  });
});

describe("a fleet that is disturbed", () => {
  it("loses nothing, does nothing twice, leaves nothing behind", async () => {
    const result = await runChaos({ ...options, seed: 1, settleMs: 45_000 });
    const told = result.faults.length === 0 ? "" : explain(result, "npm run chaos -- --seed 1 --runs 40");
    expect(told).toBe("");
    expect(Object.keys(result.report.faults)).toEqual([...FAULTS]);
  }, 120_000);
});

describe("a worker that is killed at a command", () => {
  it("leaves a run that ends as if nothing had been", async () => {
    const agents = builtInAgents.filter(({ name }) => name === "approver");
    const { agents: found } = await runCrashPoints({ agents, every: 21, atOnce: 3 });
    expect(found).toMatchObject([{ agent: "approver", differences: [] }]);
    expect(found[0]?.points).toBeGreaterThan(3);
    // What a kill costs at most.
    expect(found[0]?.repeatedModelCalls).toBeLessThanOrEqual(1);
  }, 120_000);
});
