import { fileURLToPath } from "node:url";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { resumeValue, validateAnswer } from "@drover/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProviderServer, startProviderServer } from "../../../libs/runtime/src/testing/index.js";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "./testing/otlp-receiver.js";
import { createFleet, type Fleet, type WorkerProcess } from "./testing/processes.js";

const project = fileURLToPath(new URL("../testing/watched/", import.meta.url));
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const traceparent = `00-${TRACE}-${CALLER}-01`;
const CONSUMER = 5;

let redis: RedisServer;
let provider: ProviderServer;
let collector: OtlpReceiver;
const fleets: Fleet[] = [];
const clients: Client[] = [];

/** A worker of its own under a prefix, and a client of it. */
async function open(prefix: string, env: Record<string, string>) {
  const fleet = createFleet(redis.url, prefix, project);
  fleets.push(fleet);
  const worker = await fleet.start({ ...provider.env, ...env });
  const client = new Client({
    redisUrl: redis.url,
    prefix,
    traceparent: () => traceparent,
    readAnswer: (approval, answer) => resumeValue(approval, validateAnswer(approval, answer)),
  });
  clients.push(client);
  return { worker, client };
}

const end = async (client: Client, runId: string) => (await client.run(runId)).result({ timeoutMs: 30_000 });

/** Runs the clerk until it asks, answers, and waits for its end. */
async function transfer(client: Client, input: string): Promise<string> {
  provider.use([{ toolCalls: [{ name: "transfer", args: {} }] }, { text: "It is done." }]);
  const { runId } = await client.enqueueRun({ agent: "clerk", input });
  await end(client, runId);
  const [approval] = await client.listApprovals();
  await client.decide(approval?.approvalId ?? "", { decisions: [{ type: "approve" }] });
  expect((await end(client, runId)).status).toBe("success");
  return runId;
}

async function spansOf(runId: string, count: number): Promise<ReceivedSpan[]> {
  const deliveries = () => collector.spans.filter((span) => span.attributes["drover.run.id"] === runId);
  await expect.poll(() => deliveries().length, { timeout: 20_000 }).toBe(count);
  const { traceId } = deliveries()[0] as ReceivedSpan;
  return collector.spans.filter((span) => span.traceId === traceId);
}

beforeAll(async () => {
  [redis, collector] = await Promise.all([startRedis(), startOtlpReceiver()]);
  provider = await startProviderServer({ script: [] });
}, 60_000);
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(fleets.map((fleet) => fleet.end()));
  await Promise.all([provider.close(), collector.close()]);
  await redis.stop();
});

describe("a run that is traced", () => {
  let worker: WorkerProcess;
  let client: Client;
  beforeAll(async () => {
    ({ worker, client } = await open("traced", { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }));
  }, 60_000);

  it("is one trace from its caller through the queue to its calls, whoever answered in between", async () => {
    const runId = await transfer(client, "Mail ada@example.com a planted word.");
    const spans = await spansOf(runId, 2);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    const named = (name: string) => spans.filter((span) => span.name === name);
    const deliveries = named("process runs");
    expect(deliveries.map(({ parentSpanId }) => parentSpanId)).toEqual([CALLER, CALLER]);
    expect(deliveries.map(({ kind }) => kind)).toEqual([CONSUMER, CONSUMER]);
    expect(deliveries.map(({ attributes }) => attributes["drover.activation.kind"])).toEqual([
      "start",
      "resume",
    ]);
    expect(deliveries.map(({ attributes }) => attributes["messaging.message.id"])).toEqual([
      `${runId}-1`,
      `${runId}-2`,
    ]);
    const agents = named("invoke_agent clerk");
    expect(agents.map(({ parentSpanId }) => parentSpanId)).toEqual(deliveries.map(({ spanId }) => spanId));
    const chats = named("chat gpt-4o-mini");
    expect(chats.map(({ parentSpanId }) => parentSpanId)).toEqual(agents.map(({ spanId }) => spanId));
    expect(chats[0]?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-4o-mini",
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 5,
    });
    const [tool] = named("execute_tool transfer");
    expect(tool).toMatchObject({ parentSpanId: agents[1]?.spanId, failed: false, service: "drover-worker" });
    expect(collector.text()).not.toMatch(/planted|ada@example/);
    const lines = worker.logs.filter((line) => line.runId === runId);
    expect(lines.length).toBeGreaterThanOrEqual(4);
    expect(new Set(lines.map((line) => line.traceId))).toEqual(new Set([TRACE]));
  }, 60_000);

  it("says by its code what failed", async () => {
    provider.use(() => ({ status: 401 }));
    const { runId } = await client.enqueueRun({ agent: "unpriced", input: "Hello", maxAttempts: 1 });
    await end(client, runId);
    await spansOf(runId, 1);
    const failed = collector.spans.filter((span) => span.name === "chat a-model-of-tomorrow");
    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatchObject({ failed: true, attributes: { "error.type": "MODEL_AUTH" } });
  }, 60_000);
});

describe("what people say", () => {
  it("stands in a trace where the operator asked for it, and then redacted", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, DROVER_OTEL_CONTENT: "1" };
    const { client } = await open("told", env);
    provider.use([{ text: "It is done." }]);
    const { runId } = await client.enqueueRun({
      agent: "clerk",
      input: "Mail ada@example.com an outspoken word.",
      // Nobody's trace: the run has one of its own.
      traceparent: undefined,
    });
    await end(client, runId);
    await spansOf(runId, 1);
    expect(collector.text()).toContain("an outspoken word");
    expect(collector.text()).not.toContain("ada@example");
  }, 60_000);
});
