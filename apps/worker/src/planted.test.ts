/**
 * Values of every built-in type are planted on every road into and out of an agent, for each strategy, over each door,
 * and with a worker that is killed in between. Then everything that a stranger could read is looked through for them.
 * Without rules the same scan finds them, which is what makes it one.
 */
import { join } from "node:path";
import { BUILT_IN_PII_TYPES, REDACTION_STRATEGIES } from "@drover/contracts";
import { RedisSaver } from "@drover/state/checkpoints";
import { afterEach, describe, expect, it } from "vitest";
import {
  libraryOf,
  playAll,
  queueOf,
  requestFor,
  resultOf,
  type Strategy,
} from "./testing/planted-journeys.js";
import { LOUD, openScene, PROJECT, type Scene } from "./testing/planted-scene.js";
import { leaksIn, plantedOn, plantedText, ROADS, type Road } from "./testing/planted-values.js";

const KEEPING = ["redact", "mask", "hash"] as const;
/** What came of a road's values where a rule keeps the text without them. */
const KEPT = {
  input: "success",
  approval: "success",
  respond: "success",
  comment: "success",
  question: "success",
  answer: "success",
  cancel_reason: "CANCELLED",
  broken_args: "MODEL_BAD_RESPONSE",
  reasoning: "success",
  structured_output: "success",
  fatal_error: "TOOL_ERROR",
  provider_error: "MODEL_ERROR",
};
/** Where a rule that blocks cannot take a text back, it redacts. All else ends as PII_BLOCKED. */
const NOT_BLOCKED: Partial<Record<Road, string>> = {
  custom_event: "success",
  cancel_reason: "CANCELLED",
  broken_args: "MODEL_BAD_RESPONSE",
  fatal_error: "TOOL_ERROR",
  provider_error: "MODEL_ERROR",
  edit: "PII_BLOCKED",
};

/** What a sender says; all else comes about in the worker, whichever the door. */
const FROM_OUTSIDE: readonly Road[] = [
  "input",
  "context",
  "metadata",
  "tags",
  "document",
  "edit",
  "respond",
  "comment",
  "decided_by",
  "answer",
  "cancel_reason",
];

/** `where: road types` for each place in which something was found. */
async function found(scene: Scene, more: Record<string, string> = {}): Promise<string[]> {
  const sources = { ...(await scene.scan()), ...more };
  return Object.entries(sources).flatMap(([where, text]) => {
    const byRoad = new Map<Road, string[]>();
    for (const { road, type } of leaksIn(text)) byRoad.set(road, [...(byRoad.get(road) ?? []), type]);
    return [...byRoad].map(([road, types]) => `${where}: ${road} ${types.join(", ")}`);
  });
}

function assertEnds(ends: Record<string, string>, strategies: readonly Strategy[]): void {
  for (const strategy of strategies) {
    const of = Object.entries(ends)
      .filter(([name]) => name.startsWith(`${strategy} `))
      .map(([name, end]) => [name.slice(strategy.length + 1) as Road, end] as const);
    if (strategy !== "block") expect(Object.fromEntries(of), strategy).toEqual(KEPT);
    else for (const [road, end] of of) expect(end, road).toBe(NOT_BLOCKED[road] ?? "PII_BLOCKED");
  }
}

describe("planted values", () => {
  let scene: Scene;
  afterEach(() => scene.close());

  it("are nowhere after runs over the library and the command line, also where a worker was killed", async () => {
    scene = await openScene("lib");
    const worker = await scene.worker();
    assertEnds(await playAll(scene, libraryOf(scene), REDACTION_STRATEGIES), REDACTION_STRATEGIES);
    await Promise.all([
      ...REDACTION_STRATEGIES.map((strategy) => overCommandLine(scene, strategy)),
      answeredOnCommandLine(scene),
    ]);

    const handles = await Promise.all(
      KEEPING.map((strategy) => scene.client.enqueueRun(requestFor(["crash"], strategy))),
    );
    await expect
      .poll(() => scene.fleet.ledger().filter(({ waits }) => waits).length, { timeout: 60_000 })
      .toBe(KEEPING.length);
    worker.kill("SIGKILL");
    await worker.exited;
    expect(await found(scene)).toEqual([]);
    scene.open();
    await scene.worker({ traced: true });
    for (const { runId } of handles) expect((await resultOf(scene, runId)).status).toBe("success");
    await playAll(scene, libraryOf(scene), REDACTION_STRATEGIES, ["input", "tool_result", "fatal_error"]);
    await expect
      .poll(() => scene.receiver.received("/langsmith").length, { timeout: 20_000 })
      .toBeGreaterThan(5);
    expect(await found(scene)).toEqual([]);
    expect(await scene.drover(["pii", "scan"])).toMatch(
      /^Nothing that the rules cover. Looked through \d+ records/,
    );
  }, 300_000);

  it("are nowhere after messages from a service that knows no rule, also where a worker was killed", async () => {
    scene = await openScene("queue");
    const worker = await scene.worker();
    const door = queueOf(scene);
    try {
      const disturbed = playAll(scene, door, ["mask"], ["approval", "respond", "comment", "answer"]);
      await expect.poll(() => scene.provider.requests.length, { timeout: 60_000 }).toBeGreaterThan(0);
      worker.kill("SIGKILL");
      await scene.worker();
      expect(new Set(Object.values(await disturbed))).toEqual(new Set(["success"]));
      assertEnds(await playAll(scene, door, KEEPING), KEEPING);
      assertEnds(await playAll(scene, door, ["block"], FROM_OUTSIDE), ["block"]);
      // What the service sent stands in the append-only file until Redis writes it anew: docs/messages.md.
      await scene.rewriteFiles();
      expect(await found(scene, { notices: JSON.stringify(door.sender.notices) })).toEqual([]);
      const { metrics } = await scene.scan();
      for (const [type, strategy, place] of [
        ["iban", "mask", "input"],
        ["phone", "hash", "tool_args"],
        ["ssn", "redact", "approval"],
        ["email", "block", "metadata"],
      ]) {
        const counter = new RegExp(
          `drover_redactions_total\\{type="${type}",strategy="${strategy}",place="${place}"[^}]*\\} [1-9]`,
        );
        expect(metrics).toMatch(counter);
      }
    } finally {
      await door.sender.close();
    }
  }, 300_000);

  it("are nowhere after runs of a graph of LangGraph's own under the fleet's rules", async () => {
    scene = await openScene("fleet", { DROVER_POLICY: "fleet.json" });
    await scene.worker({ traced: true });
    const start = (text: string) =>
      scene.client.enqueueRun({ agent: "graph", input: { text }, maxAttempts: 1, ...LOUD });
    const handle = await start(`read ${plantedText("input")}`);
    const asked = await resultOf(scene, handle.runId);
    expect(asked.status).toBe("interrupted");
    await scene.client.decide(asked.approvals[0] ?? "", { value: plantedText("answer") });
    expect(await resultOf(scene, handle.runId)).toMatchObject({ status: "success" });
    const failed = await start(`fail ${plantedText("input")}`);
    expect(await resultOf(scene, failed.runId)).toMatchObject({ error: { code: "AGENT_ERROR" } });
    expect(await found(scene)).toEqual([]);
  }, 300_000);

  it("are found where there are no rules, and covered where a rule comes later", async () => {
    scene = await openScene("none");
    const worker = await scene.worker({ traced: true });
    const ends = await playAll(scene, libraryOf(scene), ["none"]);
    expect(Object.fromEntries(Object.entries(ends).map(([name, end]) => [name.slice(5), end]))).toEqual(KEPT);
    await overCommandLine(scene, "none");
    await expect
      .poll(() => scene.receiver.received("/langsmith").length, { timeout: 20_000 })
      .toBeGreaterThan(5);
    const leaks = await found(scene);
    const roads = ROADS.filter((road) => !["crash", "sent", "history"].includes(road));
    const missed = roads.filter((road) => !leaks.some((leak) => leak.includes(`: ${road} `)));
    expect(missed).toEqual([]);
    expect(leaks).toContain(`redis: input ${BUILT_IN_PII_TYPES.join(", ")}`);
    for (const where of ["redis", "files", "provider", "webhooks", "traces", "spans", "screen", "logs"]) {
      expect(
        leaks.some((leak) => leak.startsWith(`${where}: `)),
        where,
      ).toBe(true);
    }
    await tellsPlacesOnly(scene);
    worker.kill("SIGKILL");
    await coversWhatWasStored(scene);
  }, 300_000);
});

/** `drover pii scan` finds all that is stored, and shows none of it. */
async function tellsPlacesOnly(scene: Scene): Promise<void> {
  const told = await scene.drover(["pii", "scan", "--json", "--rules", join(PROJECT, "fleet.json")]);
  expect(leaksIn(told)).toEqual([]);
  const places = told
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { kind: string; field: string; type: string; count: number });
  expect(new Set(places.map(({ type }) => type))).toEqual(new Set(BUILT_IN_PII_TYPES));
  const kinds = places.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(["checkpoint", "effect", "event", "memory", "run"]));
  const fields = places.filter(({ kind }) => kind === "run").map(({ field }) => field);
  for (const field of ["input", "context.customer.text", "document", "error.message"]) {
    expect(fields).toContain(field);
  }
}

/** A rule that comes later holds for what a thread has already: before each model call, and where it is written anew. */
async function coversWhatWasStored(scene: Scene): Promise<void> {
  await scene.worker({ lateRules: true });
  const runs = await scene.client.listRuns({ limit: 100 });
  const { threadId } = runs.find(({ tags }) => tags.length > 1) ?? { threadId: "" };
  const before = scene.provider.requests.length;
  const { runId } = await scene.client.enqueueRun({ agent: "worker_none", threadId, input: "And now?" });
  expect((await resultOf(scene, runId)).status).toBe("success");
  const asked = JSON.stringify(scene.provider.requests.slice(before));
  expect(asked).toContain("And now?");
  expect(asked).toContain("[REDACTED_IBAN]");
  expect(leaksIn(asked)).toEqual([]);
  const { redis, keys } = scene.client.state;
  const saver = new RedisSaver({ redis, keys, tenant: "default" });
  const head = await saver.getTuple({ configurable: { thread_id: threadId } });
  expect(leaksIn(JSON.stringify(head?.checkpoint.channel_values))).toEqual([]);
}

/** `drover run` as a person types it, where the project is at hand. */
async function overCommandLine(scene: Scene, strategy: Strategy): Promise<void> {
  const words = (road: Road) => JSON.stringify({ note: plantedText(road) });
  const printed = await scene.drover([
    ...["run", `worker_${strategy}`, "--input", `do:tool_result+output ${plantedText("input")}`],
    ...["--context", words("context"), "--metadata", words("metadata"), "--tag", plantedOn("tags").ssn],
    ...["--stream", "--timeout", "60s"],
  ]);
  expect(printed).toMatch(strategy === "block" ? /PII_BLOCKED/ : /It is/);
}

/** Decisions and a cancellation with words in them. */
async function answeredOnCommandLine(scene: Scene): Promise<void> {
  const ask = async (road: Road) => {
    const handle = await scene.client.enqueueRun(requestFor([road], "redact"));
    return resultOf(scene, handle.runId);
  };
  const [edited, ended] = await Promise.all([ask("approval"), ask("cancel_reason")]);
  const args = JSON.stringify({ text: plantedText("edit") });
  const by = ["--by", plantedOn("decided_by").email, "--comment", plantedText("comment")];
  const said = await Promise.all([
    scene.drover(["approvals", "edit", edited.approvals[0] ?? "", "--args", args, ...by]),
    scene.drover(["runs", "cancel", ended.runId, "--reason", plantedText("cancel_reason")]),
  ]);
  expect(said.join()).toMatch(/cancelled/);
  expect((await resultOf(scene, edited.runId)).status).toBe("success");
}
