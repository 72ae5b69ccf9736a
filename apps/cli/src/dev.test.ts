/** Everything on one machine: own Redis, own workers, and nothing left behind, however it ends. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createProject, drover, isAlive, jsonLines, killStarted, start, until } from "./testing/drover.js";

// Each command is a process of its own, and starts others.
vi.setConfig({ testTimeout: 90_000 });

let project: ReturnType<typeof createProject>;
let cwd: string;
beforeEach(() => {
  project = createProject();
  cwd = project.folder;
});
afterEach(() => {
  killStarted();
  project.remove();
});

/** Every process of the folder that was there: workers by their logs, Redis by its record. */
function processes(): number[] {
  const logs = jsonLines(readFileSync(join(cwd, ".drover/logs/worker-1.log"), "utf8"));
  const record = JSON.parse(readFileSync(join(cwd, ".drover/redis.json"), "utf8")) as { pid: number };
  return [...new Set(logs.map(({ pid }) => Number(pid))), record.pid];
}

const env = { DROVER_DRAIN_MS: "500" };

describe("drover dev", () => {
  it("runs documents, shows what came of them, and ends by itself without a terminal", async () => {
    mkdirSync(join(cwd, "documents"));
    const files = { "a.txt": "BLUE HERON\n42.80", "b.txt": "fail\n1", "c.txt": "ask me", "d.pdf": "no PDF" };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, "documents", name), content);
    const { code, stdout, stderr } = await drover(["dev", "-w", "1", "--batch", "clerk", "documents"], {
      cwd,
      env,
    });
    expect(stderr.match(/http:\/\/127\.0\.0\.1:\d+\/metrics/g)).toHaveLength(1);
    expect(stdout).toMatch(/^a\.txt +success +BLUE HERON, 42.8 +completed/m);
    expect(stdout).toMatch(/^c\.txt +interrupted +waits for a person/m);
    expect(stdout).toMatch(/What failed and why[\s\S]*AGENT_ERROR\n {4}b\.txt: /);
    expect(stdout).toMatch(
      /What waits for a person\n {2}c\.txt: .*Which total.*\n {4}drover approvals respond apr_/,
    );
    expect(code).toBe(0);
    expect(existsSync(join(cwd, ".drover/redis.json"))).toBe(false);

    const run = await drover(["run", "clerk", "-i", "OAK\n5", "--wait", "--json"], { cwd, env });
    expect(run.values()).toMatchObject([{ status: "success", output: { company: "OAK" } }]);
    expect(run.stderr).toContain("No worker is running; starting 1 worker");
  });

  it("ends on a signal while a worker is busy: its run is handed over, nothing is left behind", async () => {
    const dev = start(["dev", "--workers", "1", "--stay"], { cwd, env });
    await until(() => dev.said().includes("Ready."), dev.said);
    const [run] = (await drover(["run", "clerk", "-i", "slow 60000", "--json"], { cwd, env })).values();
    await until(async () => {
      const [found] = (await drover(["runs", "show", String(run?.runId), "--json"], { cwd, env })).values();
      return found?.status === "running";
    }, dev.said);
    const before = processes();
    dev.child.kill("SIGTERM");
    expect((await dev.ended).code).toBe(0);
    expect(before.filter(isAlive)).toEqual([]);
    const [after] = (await drover(["runs", "show", String(run?.runId), "--json"], { cwd, env })).values();
    expect(after).toMatchObject({ status: expect.stringMatching(/pending|running/), attempt: 1 });
  });

  it("starts a worker again that died, and takes all with it when it is killed itself", async () => {
    const dev = start(["dev", "--workers", "1", "--stay"], { cwd, env });
    await until(() => dev.said().includes("Ready."), dev.said);
    const [worker = 0] = processes();
    process.kill(worker, "SIGKILL");
    await until(() => dev.said().includes("another takes its place"), dev.said);
    await until(() => processes().length === 3, dev.said);
    const before = processes();
    dev.child.kill("SIGKILL");
    await until(
      () => before.filter(isAlive).length === 0,
      () => `alive: ${before.filter(isAlive)}`,
    );
  });

  it("says what is wrong with the agents, and starts nothing", async () => {
    writeFileSync(join(cwd, "langgraph.json"), '{"graphs": {"clerk": "./none.mjs:clerk"}}');
    const { code, stderr } = await drover(["dev", "--once"], { cwd, env });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/INVALID_AGENT: .*graphs.clerk: there is no file .*none.mjs/),
    ]);
    expect(existsSync(join(cwd, ".drover/redis.json"))).toBe(false);
  });
});
