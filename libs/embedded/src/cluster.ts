import { setTimeout as sleep } from "node:timers/promises";
import { DroverError } from "@drover/contracts";
import type { RedisOptions } from "./options.js";
import { type RedisServer, startRedis } from "./redis.js";
import { redisCommand } from "./resp.js";

const SLOTS = 16_384;
const READY_TIMEOUT_MS = 30_000;

export interface RedisCluster {
  /** One address a node, without a password: what ioredis's Cluster takes as start-up nodes. */
  readonly hosts: { host: string; port: number }[];
  readonly urls: string[];
  readonly nodes: RedisServer[];
  stop(): Promise<void>;
}

/**
 * Starts a Redis Cluster of masters (3) for tests, slots spread evenly and no replicas, and resolves when every
 * node says `cluster_state:ok`. Throws NO_REDIS when that takes longer than 30 s.
 */
export async function startCluster(
  options: { nodes?: number } & Omit<RedisOptions, "dir" | "port" | "cluster"> = {},
): Promise<RedisCluster> {
  const { nodes: count = 3, ...settings } = options;
  const started = await Promise.allSettled(
    Array.from({ length: count }, () => startRedis({ ...settings, cluster: true })),
  );
  const nodes = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    const failed = started.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
    await joinNodes(nodes);
    await untilOk(nodes);
  } catch (error) {
    await stop();
    throw error;
  }
  const hosts = nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
  return { hosts, urls: nodes.map((node) => node.url), nodes, stop };
}

async function joinNodes(nodes: RedisServer[]): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    const first = Math.ceil((index * SLOTS) / nodes.length);
    const end = Math.ceil(((index + 1) * SLOTS) / nodes.length);
    const slots = Array.from({ length: end - first }, (_, offset) => String(first + offset));
    await redisCommand(node, ["CLUSTER", "ADDSLOTS", ...slots]);
    // Epochs that differ from the start spare the nodes a round of collisions.
    await redisCommand(node, ["CLUSTER", "SET-CONFIG-EPOCH", String(index + 1)]);
    if (index > 0) await redisCommand(node, ["CLUSTER", "MEET", "127.0.0.1", String(nodes[0]?.port)]);
  }
}

/** `cluster_state:ok` alone does not tell that a node knows all others: each must also count every one of them. */
async function untilOk(nodes: RedisServer[]): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (const node of nodes) {
    for (;;) {
      const info = await redisCommand(node, ["CLUSTER", "INFO"]);
      const ok = ["cluster_state:ok", `cluster_slots_ok:${SLOTS}`, `cluster_size:${nodes.length}`];
      if (ok.every((line) => info.includes(line))) break;
      if (performance.now() > deadline) {
        throw new DroverError(
          "NO_REDIS",
          `The Redis Cluster was not ready after ${READY_TIMEOUT_MS} ms:\n${info}`,
        );
      }
      await sleep(20);
    }
  }
}
