import { expect, onTestFinished, test } from "vitest";
import { startCluster } from "./cluster.js";
import { isAlive } from "./process.js";
import { redisCommand } from "./resp.js";

test("three masters share the slots and say ok; stop ends them all", async () => {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  expect(cluster.hosts).toHaveLength(3);
  for (const { port } of cluster.hosts) {
    const info = await redisCommand({ port }, ["CLUSTER", "INFO"]);
    expect(info).toContain("cluster_state:ok");
    expect(info).toContain("cluster_known_nodes:3");
    expect(await redisCommand({ port }, ["CLUSTER", "NODES"])).not.toContain("slave");
  }
  const written = cluster.hosts.map(({ port }) =>
    redisCommand({ port }, ["SET", "{slot}a", "1"]).catch((error: Error) => error.message),
  );
  expect((await Promise.all(written)).sort()).toEqual([
    expect.stringContaining("MOVED"),
    expect.stringContaining("MOVED"),
    "OK",
  ]);
  await cluster.stop();
  expect(cluster.nodes.map((node) => isAlive(node.pid))).toEqual([false, false, false]);
});
