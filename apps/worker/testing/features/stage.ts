/**
 * Where a feature proves itself: runs are enqueued on a real Redis, a separate worker process executes them, and it
 * talks over HTTP to a provider that is scripted. Each proof is made twice: with the feature, where it must hold, and
 * on a worker whose agents come without their policy and middleware, where an expectation must not be met although a
 * model was asked.
 */
import { fileURLToPath } from "node:url";
import type { Approval, Run } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { afterAll, assert, beforeAll, expect, it } from "vitest";
import {
  type ProviderRequest,
  type ProviderScript,
  type ProviderServer,
  startProviderServer,
} from "../../../../libs/runtime/src/testing/index.js";
import { createFleet, type Fleet, type WorkerProcess } from "../../src/testing/processes.js";
import { createSender, newId, type Sender } from "../../src/testing/sender.js";
import { type ModerationServer, startModerationServer } from "./moderation.js";

const project = fileURLToPath(new URL("./", import.meta.url));

interface Ask {
  script?: ProviderScript;
  input?: string | Record<string, unknown>;
  thread?: string;
  context?: Record<string, unknown>;
  streamMode?: ("updates" | "messages" | "custom")[];
}

/** What one proof works with. */
export interface Stage {
  /** Runs an agent of testing/features to its end, or until it asks. */
  run(agent: string, ask?: Ask): Promise<Run>;
  /** Answers the run's question by a message on the queue, and gives the run's end. Throws what a refusal says. */
  decide(run: Run, decisions: object[]): Promise<Run>;
  /** The question that the run asks. */
  approval(run: Run): Promise<Approval>;
  /** The requests to the provider since the proof began. */
  requests(): ProviderRequest[];
  /** The moderation models that were asked since the proof began. */
  moderations(): string[];
  /** What tools did since the proof began. */
  effects(): Record<string, unknown>[];
  /** What the worker wrote to standard error since the proof began, or since the worker started. */
  warnings(since?: "start"): string;
  /** What is stored of a run for readers. */
  events(run: Run): Promise<unknown[]>;
}

export interface Proofs {
  /** Declares a test: the feature's proof holds with the feature and fails without it. */
  proves(feature: string, proof: (stage: Stage) => Promise<void>): void;
}

export function proofs(): Proofs {
  let redis: RedisServer;
  let provider: ProviderServer;
  let moderation: ModerationServer;
  const fleets: Fleet[] = [];
  const workers: WorkerProcess[] = [];
  const clients: Client[] = [];
  const senders: Sender[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    provider = await startProviderServer({ script: [] });
    moderation = await startModerationServer();
    for (const features of ["on", "off"]) {
      const fleet = createFleet(redis.url, features, project);
      fleets.push(fleet);
      clients.push(new Client({ redisUrl: redis.url, prefix: features }));
      senders.push(createSender(redis.url, features));
      workers.push(
        await fleet.start({
          ...provider.env,
          DROVER_PII_HASH_KEY: "a key of sixteen bytes and more",
          FEATURES: features,
          MODERATION_URL: moderation.url,
        }),
      );
    }
  });
  afterAll(async () => {
    await Promise.all(senders.map((sender) => sender.close()));
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(fleets.map((fleet) => fleet.end()));
    await provider.close();
    await moderation.close();
    await redis.stop();
  });

  const stageOf = (mode: 0 | 1): Stage => {
    const [client, sender] = [clients[mode] as Client, senders[mode] as Sender];
    const [fleet, worker] = [fleets[mode] as Fleet, workers[mode] as WorkerProcess];
    const requestsBefore = provider.requests.length;
    const effectsBefore = fleet.ledger().length;
    const moderationsBefore = moderation.models.length;
    const warningsBefore = worker.stderr().length;
    const ended = (runId: string) => client.run(runId).then((handle) => handle.result({ timeoutMs: 20_000 }));
    const approval = async ({ runId }: Run): Promise<Approval> => {
      const found = (await client.listApprovals()).find((waiting) => waiting.runId === runId);
      assert(found, "the run asks nothing");
      return found;
    };
    return {
      async run(agent, { script, input = "Hello", thread, context, streamMode } = {}) {
        if (script) provider.use(script);
        const handle = await client.enqueueRun({
          agent,
          input,
          maxAttempts: 1,
          ...(thread === undefined ? {} : { threadId: `${agent}-${thread}` }),
          ...(context === undefined ? {} : { context }),
          ...(streamMode === undefined ? {} : { streamMode }),
        });
        return ended(handle.runId);
      },
      approval,
      async decide(run, decisions) {
        const { approvalId } = await approval(run);
        const { replyTo } = sender;
        const id = newId();
        await sender.send({ v: 1, id, type: "run.resume", replyTo, approvalId, decisions });
        const reply = await sender.notice(
          ({ type, correlationId }) => correlationId === id && type.startsWith("request."),
        );
        if (reply.type === "request.refused") throw new Error(reply.error.message);
        return ended(run.runId);
      },
      requests: () => provider.requests.slice(requestsBefore),
      moderations: () => moderation.models.slice(moderationsBefore),
      effects: () => fleet.ledger().slice(effectsBefore),
      warnings: (since) => worker.stderr().slice(since === "start" ? 0 : warningsBefore),
      async events(run) {
        const found: unknown[] = [];
        const handle = await client.run(run.runId);
        for await (const event of handle.events()) found.push(event);
        return found;
      },
    };
  };

  return {
    proves(feature, proof) {
      it(feature, async () => {
        await proof(stageOf(0));
        const without = stageOf(1);
        await expect(proof(without), "without the feature").rejects.toMatchObject({ name: "AssertionError" });
        expect(without.requests(), "without the feature").not.toEqual([]);
      }, 60_000);
    },
  };
}

/** What the model was sent in one request, as text. */
export const textOf = (request: ProviderRequest | undefined): string => JSON.stringify(request?.body ?? null);
