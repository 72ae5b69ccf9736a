import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Notice } from "@drover/contracts";
import { type RedisCluster, startCluster } from "@drover/embedded";
import { connect, type Redis } from "@drover/state";
import { type ConnectionOptions, Queue, Worker } from "bullmq";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFleet, type Fleet } from "./testing/processes.js";

const project = fileURLToPath(new URL("../testing/messages/", import.meta.url));
const PREFIX = "c";

let cluster: RedisCluster;
let fleet: Fleet;
let receiver: Server;
const connections: Redis[] = [];
const notices: Notice[] = [];
const posted: Notice[] = [];

const bullmq = () => {
  const redis = connect({ url: cluster.urls.join(","), role: "subscriber" });
  connections.push(redis);
  return { connection: redis as unknown as ConnectionOptions, prefix: `{${PREFIX}-bull}` };
};

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    posted.push(JSON.parse(body) as Notice);
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  cluster = await startCluster({ nodes: 3 });
  fleet = createFleet(cluster.urls.join(","), PREFIX, project);
  await fleet.start({
    DROVER_WEBHOOK_PRIVATE: "1",
    DROVER_SERVICE_KEYS: "webhook=a-secret-of-the-webhooks",
  });
});
afterAll(async () => {
  await fleet.end();
  for (const redis of connections) redis.disconnect();
  await cluster.stop();
  receiver.close();
});

describe("on a Redis Cluster, with a worker process", () => {
  it("the inbox starts and answers runs; replies and webhooks say what became of them", async () => {
    const inbox = new Queue("inbox", bullmq());
    const replies = new Worker<Notice>(
      "billing",
      async (job) => {
        notices.push(job.data);
      },
      bullmq(),
    );
    const told = <T extends Notice["type"]>(type: T) =>
      expect
        .poll(() => notices.some((notice) => notice.type === type), { timeout: 20_000 })
        .toBe(true)
        .then(() => notices.find((notice) => notice.type === type) as Extract<Notice, { type: T }>);
    const { port } = receiver.address() as AddressInfo;
    await inbox.add("message", {
      v: 1,
      id: "start-1",
      type: "run.start",
      replyTo: "billing",
      request: {
        agent: "payer",
        input: JSON.stringify([{ name: "pay", args: { amount: 12 } }]),
        webhook: { url: `http://127.0.0.1:${port}/` },
      },
    });
    const asked = await told("run.interrupted");
    await inbox.add("message", {
      v: 1,
      id: "answer-1",
      type: "run.resume",
      approvalId: asked.approvals[0]?.approvalId,
      decisions: [{ type: "approve" }],
    });
    expect(await told("run.final")).toMatchObject({ status: "success", output: "pay 12" });
    const webhooks = () => new Set(posted.map(({ type }) => type));
    await expect
      .poll(webhooks, { timeout: 20_000 })
      .toEqual(new Set(["request.admitted", "run.interrupted", "run.final"]));
    expect(fleet.ledger()).toHaveLength(1);
    await Promise.all([inbox.close(), replies.close()]);
  });
});
