import { DroverError, type Lease, type Redactor } from "@drover/contracts";
import type { LoadedAgent } from "@drover/runtime";
import type { State } from "@drover/state";
import { openRedisJson, RedisSaver } from "@drover/state/checkpoints";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { WorkerConfig } from "./config.js";

/** The checkpointer of one activation. */
export type SaverOf = (lease: Lease, isNewThread: boolean, redactor: Redactor) => BaseCheckpointSaver;

export interface Savers {
  of: SaverOf;
  close(): Promise<void>;
}

/** What DROVER_CHECKPOINTS names. Throws INVALID_CONFIG where the server or other settings do not go with it. */
export async function openSavers(
  state: State,
  { checkpoints, redisUrl }: WorkerConfig,
  agents: readonly LoadedAgent[],
): Promise<Savers> {
  const { redis, keys, codec, retention } = state;
  if (checkpoints === "redis-json") {
    assertNoPromises(state, agents);
    const json = await openRedisJson({ redis, keys, url: redisUrl, retentionSeconds: retention.threads });
    return { of: (lease) => json.saverOf(lease.tenant, lease), close: () => json.close() };
  }
  return {
    of: (lease, isNewThread, redactor) =>
      new RedisSaver({
        redis,
        keys,
        tenant: lease.tenant,
        lease,
        isNewThread,
        redactor,
        ...(codec ? { codec } : {}),
        retentionSeconds: retention.threads,
      }),
    close: async () => {},
  };
}

/** What somebody relies on is refused rather than not kept. */
function assertNoPromises({ codec }: State, agents: readonly LoadedAgent[]): void {
  const redacted = agents.filter(({ definition }) => (definition?.policy.pii ?? []).length > 0);
  const broken = [
    ...(codec ? ["DROVER_ENCRYPTION_KEYS is set"] : []),
    ...(redacted.length > 0
      ? [`agents have PII rules (${redacted.map(({ name }) => name).join(", ")})`]
      : []),
  ];
  if (broken.length === 0) return;
  throw new DroverError(
    "INVALID_CONFIG",
    `DROVER_CHECKPOINTS=redis-json stores texts as they are, and ${broken.join(" and ")}. Leave the setting out.`,
  );
}
