import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client, type RunHandle } from "@drover/queue";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createFleet, type Fleet } from "../../worker/src/testing/processes.js";
import { drover, start as startDrover } from "./testing/drover.js";

// Each command is a process that loads LangChain.
vi.setConfig({ testTimeout: 120_000 });

const project = fileURLToPath(new URL("../../worker/testing/messages/", import.meta.url));

let server: RedisServer;
let client: Client;
let fleet: Fleet;
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "drover-approvals-"));
  server = await startRedis();
  client = new Client({ redisUrl: server.url });
  fleet = createFleet(server.url, "drover", project);
  await fleet.start();
});
afterAll(async () => {
  await client.close();
  await fleet.end();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

const options = () => ({ cwd: home, env: { REDIS_URL: server.url, DROVER_ROOT: project } });
const type = (...args: string[]) => drover(["approvals", ...args], options());
const paid = (amount: number) => fleet.ledger().filter((line) => line.amount === amount).length;
const end = { timeoutMs: 20_000, stopAtInterrupt: false };

async function asked(agent: string, amount: number): Promise<{ handle: RunHandle; id: string }> {
  const input = JSON.stringify([{ name: "pay", args: { amount } }]);
  const handle = await client.enqueueRun({ agent, input });
  const run = await handle.result({ timeoutMs: 20_000 });
  return { handle, id: run.approvals[0] ?? "" };
}

describe("drover approvals", () => {
  it("decides several calls of one question each by itself", async () => {
    const calls = [71, 72].map((amount) => ({ name: "pay", args: { amount } }));
    const handle = await client.enqueueRun({ agent: "payer", input: JSON.stringify(calls) });
    const [id = ""] = (await handle.result({ timeoutMs: 20_000 })).approvals;
    const together = await type("edit", id, "--set", "amount=1");
    expect(together.stderr).toContain(`drover approvals decide ${id}`);
    const short = await type("decide", id, "--decisions", '[{"type": "approve"}]');
    expect([short.code, short.stderr]).toEqual([2, expect.stringContaining("DECISION_COUNT")]);
    const decisions = JSON.stringify([{ type: "approve" }, { type: "reject", message: "paid in March" }]);
    const right = await type("decide", id, "--decisions", decisions);
    expect(right.stdout).toContain("is approved and rejected");
    const { output } = await handle.result(end);
    expect(String(output).split(" | ").sort()).toEqual(["paid in March", "pay 71"]);
    expect([paid(71), paid(72)]).toEqual([1, 0]);
  });

  it("shows a question, refuses who may not answer, takes an edit, and says who it was", async () => {
    const { handle, id } = await asked("guarded", 1);
    const shown = await type("show", id);
    expect(shown.stdout).toMatch(/for\s+ada, audit/);
    expect(shown.stdout).toMatch(/amount\s+1/);
    const nobody = await type("edit", id, "--set", "amount=2");
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("NOT_PERMITTED")]);
    const wrong = await type("edit", id, "--set", "amount=much", "--by", "ada");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("INVALID_DECISION")]);
    const right = await type("edit", id, "--set", "amount=2", "--by", "ada", "--comment", "as agreed");
    expect([right.code, right.stderr]).toEqual([0, ""]);
    expect((await handle.result(end)).output).toBe("pay 2");
    expect((await type("show", id)).stdout).toMatch(/by\s+ada\nthrough\s+cli\ncomment\s+as agreed/);
    const late = await type("approve", id, "--by", "ada");
    expect(late.stderr).toMatch(/APPROVAL_ANSWERED.*by ada/);
  });

  it("answers all of a filter, after it was told to", async () => {
    const payers = await Promise.all([11, 12, 13].map((amount) => asked("payer", amount)));
    const other = await asked("guarded", 14);
    const unasked = await type("approve", "--all", "--agent", "payer");
    expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    expect((await type("list", "--agent", "payer", "--json")).values()).toHaveLength(3);
    const all = await type("approve", "--all", "--agent", "payer", "--yes", "--by", "ada");
    expect(all.stdout).toContain("3 approvals answered, 0 refused.");
    await Promise.all(payers.map(({ handle }) => handle.result(end)));
    expect([11, 12, 13, 14].map(paid)).toEqual([1, 1, 1, 0]);
    const rest = await type("reject", "--all", "--yes", "--by", "bo");
    expect([rest.code, rest.stdout]).toEqual([
      1,
      expect.stringContaining("0 approvals answered, 1 refused."),
    ]);
    expect(rest.stderr).toContain(`${other.id}: NOT_PERMITTED`);
    await client.cancelRun(other.handle.runId);
  });

  it("watches what comes and goes, until it is told to stop", async () => {
    const watch = startDrover(["approvals", "watch"], options());
    const { handle, id } = await asked("payer", 21);
    await expect.poll(() => watch.said(), { timeout: 15_000 }).toContain(id);
    await client.cancelRun(handle.runId);
    await expect.poll(() => watch.said(), { timeout: 15_000 }).toContain(`${id}  discarded`);
    watch.child.kill("SIGINT");
    expect((await watch.ended).code).toBe(130);
  });
});

it("drover messages and webhooks: what was refused, and what could not be posted", async () => {
  const letters = client.state.deadLetters;
  const reason = { code: "INVALID_MESSAGE", message: "The message: type: Invalid input." } as const;
  const { id } = await letters.add("default", reason, '{"type":"run.begin"}', Date.now());
  const say = (...args: string[]) => drover(args, options());
  expect((await say("messages", "list")).stdout).toMatch(new RegExp(`${id}\\s+INVALID_MESSAGE`));
  expect((await say("messages", "show", id)).stdout).toContain('{"type":"run.begin"}');
  expect((await say("messages", "drop", id)).code).toBe(0);
  expect((await say("messages", "drop", id)).code).toBe(2);
  expect((await say("webhooks", "list")).stdout).toContain("No webhook was given up.");
  expect((await say("webhooks", "replay", "nope")).code).toBe(2);
});
