import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster, Redis } from "ioredis";

export interface TestRedis {
  port: number;
  url: string;
  redis: Redis;
  /** Kills the server, as a crash would, and starts it again on the same port and files. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  // A cluster node also listens on port + 10,000.
  return port < 55_000 ? port : freePort();
}

function launch(port: number, folder: string, args: string[]): ChildProcess {
  return spawn(
    "redis-server",
    ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", ...args],
    { stdio: "ignore" },
  );
}

async function answers(redis: Redis): Promise<void> {
  for (;;) {
    const pong = await redis.ping().catch(() => "");
    if (pong === "PONG") return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => child.once("exit", resolve));
}

/** A redis-server of its own on a free port; with `appendOnly`, it syncs each write to its file. */
export async function startTestRedis(
  options: { appendOnly?: boolean; args?: string[] } = {},
): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), "drover-cp-"));
  const port = await freePort();
  const file = options.appendOnly
    ? ["--appendonly", "yes", "--appendfsync", "always"]
    : ["--appendonly", "no"];
  const args = [...file, ...(options.args ?? [])];
  let child = launch(port, folder, args);
  const redis = new Redis({ port, host: "127.0.0.1", maxRetriesPerRequest: null, retryStrategy: () => 50 });
  redis.on("error", () => undefined);
  await answers(redis);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    redis,
    async restart() {
      child.kill("SIGKILL");
      await ended(child);
      child = launch(port, folder, args);
      await answers(redis);
    },
    async stop() {
      redis.disconnect();
      child.kill("SIGKILL");
      await ended(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A Redis Cluster of three masters. */
export async function startTestCluster(): Promise<{
  cluster: Redis;
  nodes: TestRedis[];
  stop(): Promise<void>;
}> {
  const args = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
  const nodes = await Promise.all([0, 1, 2].map(() => startTestRedis({ args })));
  const [first, ...others] = nodes as [TestRedis, ...TestRedis[]];
  const step = Math.ceil(16_384 / nodes.length);
  await Promise.all(
    nodes.map(({ redis }, i) =>
      redis.call("CLUSTER", "ADDSLOTSRANGE", String(i * step), String(Math.min((i + 1) * step, 16_384) - 1)),
    ),
  );
  for (const { port } of others) await first.redis.call("CLUSTER", "MEET", "127.0.0.1", String(port));
  for (const { redis } of nodes) {
    while (!String(await redis.call("CLUSTER", "INFO")).includes("cluster_state:ok")) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const cluster = new Cluster(nodes.map(({ port }) => ({ host: "127.0.0.1", port })));
  cluster.on("error", () => undefined);
  return {
    // The commands that are used here are the same for both; connect.ts makes this cast too.
    cluster: cluster as unknown as Redis,
    nodes,
    async stop() {
      cluster.disconnect();
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
