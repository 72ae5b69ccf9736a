/**
 * Where a feature proves itself: runs are enqueued on a real Redis, a separate worker process executes them, and it
 * talks over HTTP to a provider that is scripted. Each proof is made twice: with the feature, where it must hold, and
 * on a worker whose agents come without their policy and middleware, where it must not.
 */
import { fileURLToPath } from "node:url";
import type { Approval, Run } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { resumeValue, validateAnswer } from "@drover/runtime";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type ProviderRequest,
  type ProviderScript,
  type ProviderServer,
  startProviderServer,
} from "../../../../libs/runtime/src/testing/index.js";
import { createFleet, type Fleet } from "../../src/testing/processes.js";
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
  /** Answers the one question that waits, and gives the run's end. */
  decide(run: Run, answer: object): Promise<Run>;
  approval(): Promise<Approval>;
  /** The requests to the provider since the proof began. */
  requests(): ProviderRequest[];
  /** The moderation models that were asked since the proof began. */
  moderations(): string[];
  /** What tools did since the proof began. */
  effects(): Record<string, unknown>[];
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
  const clients: Client[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    provider = await startProviderServer({ script: [] });
    moderation = await startModerationServer();
    for (const features of ["on", "off"]) {
      const fleet = createFleet(redis.url, features, project);
      fleets.push(fleet);
      clients.push(
        new Client({
          redisUrl: redis.url,
          prefix: features,
          readAnswer: (approval, answer) => resumeValue(approval, validateAnswer(approval, answer)),
        }),
      );
      const hash = { DROVER_PII_HASH_KEY: "a key of sixteen bytes and more" };
      await fleet.start({
        ...provider.env,
        ...hash,
        FEATURES: features,
        MODERATION_URL: moderation.url,
      });
    }
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(fleets.map((fleet) => fleet.end()));
    await provider.close();
    await moderation.close();
    await redis.stop();
  });

  const stageOf = (mode: 0 | 1, started = provider.requests.length): Stage => {
    const client = clients[mode] as Client;
    const fleet = fleets[mode] as Fleet;
    const effectsBefore = fleet.ledger().length;
    const moderationsBefore = moderation.models.length;
    const ended = (runId: string) => client.run(runId).then((handle) => handle.result({ timeoutMs: 20_000 }));
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
      async approval() {
        const [approval] = await client.listApprovals();
        if (!approval) throw new Error("nothing waits for a decision");
        return approval;
      },
      async decide(run, answer) {
        const [approval] = (await client.listApprovals()).filter(({ runId }) => runId === run.runId);
        if (!approval) throw new Error("the run asks nothing");
        await client.decide(approval.approvalId, answer as never);
        return ended(run.runId);
      },
      requests: () => provider.requests.slice(started),
      moderations: () => moderation.models.slice(moderationsBefore),
      effects: () => fleet.ledger().slice(effectsBefore),
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
        await expect(proof(stageOf(1)), "it holds without the feature, too").rejects.toThrow();
      }, 60_000);
    },
  };
}

/** What the model was sent in one request, as text. */
export const textOf = (request: ProviderRequest | undefined): string => JSON.stringify(request?.body ?? null);
