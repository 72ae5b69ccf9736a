import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { loadDefinition, resumeValue, validateAnswer } from "@drover/runtime";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFleet, type Fleet } from "../../apps/worker/src/testing/processes.js";
import { agent } from "./agent.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

let redis: RedisServer;
let client: Client;
let fleet: Fleet;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "drover-review-"));
  redis = await startRedis();
  const loaded = await loadDefinition(agent, {});
  client = new Client({
    redisUrl: redis.url,
    prefix: "review",
    readAnswer: (approval, answer) => resumeValue(approval, validateAnswer(approval, answer, loaded)),
  });
  fleet = createFleet(redis.url, "review", root);
  await fleet.start({ DROVER_RECEIPTS_LEDGER: join(folder, "ledger.jsonl") });
});
afterAll(async () => {
  await client.close();
  await fleet.end();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

const receipt = (company: string, total: string) =>
  `${company}\n12, Jalan Teratai, 50450 Kuala Lumpur\nDATE 03/02/2026\nGRAND TOTAL RM ${total}`;

it("a reviewer approves one expense, edits another and rejects a third; the batch's results show it", async () => {
  const { batchId } = await client.openBatch({ agent: "receipts" });
  const documents = {
    "approve.txt": receipt("NORTHLIGHT COMPUTERS SDN BHD", "3,499.00"),
    "edit.txt": receipt("HARBOUR FURNITURE SDN BHD", "2,750.00"),
    "reject.txt": receipt("GRAND PALACE HOTEL SDN BHD", "9,120.00"),
    "small.txt": receipt("BLUE HERON STATIONERY SDN BHD", "42.80"),
  };
  const handles = await client.enqueueMany(
    Object.entries(documents).map(([document, input]) => ({ agent: "receipts", input, batchId, document })),
  );
  await client.sealBatch(batchId);
  const first = await Promise.all(handles.map((handle) => handle.result({ timeoutMs: 30_000 })));
  expect(first.map(({ status }) => status)).toEqual(["interrupted", "interrupted", "interrupted", "success"]);

  for (const run of first.slice(0, 3)) {
    const approval = await client.approvals.get(run.approvals[0] ?? "");
    const [action] = approval.actions ?? [];
    if (!action) throw new Error("no action");
    const edited = { name: action.name, args: { ...action.args, amount: 2700 } };
    const decision =
      run.document === "approve.txt"
        ? { type: "approve" as const }
        : run.document === "edit.txt"
          ? { type: "edit" as const, editedAction: edited }
          : { type: "reject" as const, message: "Not a business trip." };
    await client.approvals.decide(approval.approvalId, { decisions: [decision], decidedBy: "ada" });
  }
  const ended = { timeoutMs: 30_000, stopAtInterrupt: false };
  await Promise.all(handles.map((handle) => handle.result(ended)));
  expect(await client.batch(batchId)).toMatchObject({
    counts: { success: 4, interrupted: 0 },
    finishedAt: expect.any(Number),
  });
  const posted = readFileSync(join(folder, "ledger.jsonl"), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { amount: number }).amount);
  expect(posted.sort((a, b) => a - b)).toEqual([42.8, 2700, 3499]);
  const results = (await client.batchRuns(batchId, 0, 10)).map(({ document, output }) => [
    document,
    (output as { postingId: string | null }).postingId !== null,
  ]);
  expect(Object.fromEntries(results)).toEqual({
    "approve.txt": true,
    "edit.txt": true,
    "reject.txt": false,
    "small.txt": true,
  });
});
