import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Notice } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createFleet, type Fleet } from "./testing/processes.js";

const SECRET = "a-secret-of-the-webhooks";
const project = fileURLToPath(new URL("../testing/messages/", import.meta.url));

interface Posted {
  headers: IncomingMessage["headers"];
  body: string;
  notice: Notice;
}

let server: RedisServer;
let client: Client;
let fleet: Fleet;
let receiver: Server;
let url: string;
let posted: Posted[] = [];
/** The status that the receiver answers with. */
let answer: (n: number) => number = () => 200;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      posted.push({ headers: request.headers, body, notice: JSON.parse(body) as Notice });
      response.writeHead(answer(posted.length)).end("secret text of the receiver");
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  server = await startRedis();
  client = new Client({ redisUrl: server.url, prefix: "h", readAnswer: (_, a) => a });
  fleet = createFleet(server.url, "h", project);
  await fleet.start({ DROVER_SERVICE_KEYS: `webhook=${SECRET}`, DROVER_WEBHOOK_PRIVATE: "1" });
});
beforeEach(() => {
  posted = [];
  answer = () => 200;
});
afterAll(async () => {
  receiver.close();
  await client.close();
  await fleet.end();
  await server.stop();
});

const input = (tool: string) => JSON.stringify([{ name: tool, args: { amount: 1 } }]);
const begin = (tool: string, webhook: { url: string; key?: string } = { url }) =>
  client.enqueueRun({ agent: "payer", input: input(tool), webhook, correlationId: "order-7" });

describe("a webhook", () => {
  it("tells of acceptance, question and end, each signed, with an id", async () => {
    const handle = await begin("pay");
    const run = await handle.result({ timeoutMs: 15_000 });
    await client.decide(run.approvals[0] ?? "", { decisions: [{ type: "approve" }] });
    await expect.poll(() => posted.length, { timeout: 15_000 }).toBe(3);
    expect(posted.map(({ notice }) => notice.type).sort()).toEqual([
      "request.admitted",
      "run.final",
      "run.interrupted",
    ]);
    for (const { headers, body, notice } of posted) {
      expect(notice).toMatchObject({ runId: handle.runId, correlationId: "order-7" });
      expect(headers["webhook-id"]).toBe(notice.id);
      const text = `${notice.id}.${headers["webhook-timestamp"]}.${body}`;
      const mac = createHmac("sha256", SECRET).update(text).digest("base64");
      expect(headers["webhook-signature"]).toBe(`v1,${mac}`);
      expect(Math.abs(Number(headers["webhook-timestamp"]) - Date.now() / 1000)).toBeLessThan(60);
    }
  });

  it("is tried again while its receiver fails", async () => {
    answer = (n) => (n === 1 ? 503 : 200);
    await begin("look");
    await expect.poll(() => posted.length, { timeout: 15_000 }).toBe(3);
    const ids = posted.map(({ notice }) => notice.id);
    expect(new Set(ids).size).toBe(2);
  });

  it("that is given up is listed with its reason and can be sent again", async () => {
    const handle = await begin("look", { url, key: "nobody" });
    await handle.result({ timeoutMs: 15_000 });
    const queue = await failNow(handle.runId);
    const failed = await client.failedWebhooks.list();
    expect(failed.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/no key 'nobody'.*DROVER_SERVICE_KEYS/),
      expect.stringMatching(/no key 'nobody'/),
    ]);
    expect(failed[0]).toMatchObject({ url, tenant: "default", runId: handle.runId });
    await queue.mend();
    for (const { id } of failed) await client.failedWebhooks.replay(id);
    await expect.poll(() => posted.length, { timeout: 15_000 }).toBe(2);
    await expect.poll(() => client.failedWebhooks.list()).toEqual([]);
    await expect(client.failedWebhooks.replay(failed[0]?.id ?? "")).rejects.toThrow(/No webhook/);
  });
});

/** Lets the tries of a run's webhooks be spent at once; `mend` names the key that there is. */
async function failNow(runId: string): Promise<{ mend: () => Promise<void> }> {
  const { redis, keys } = client.state;
  const ids = [`${runId}-admitted`, `${runId}-1-success`];
  const job = (id: string) => `${keys.bull}:webhooks:${id}`;
  const delayed = `${keys.bull}:webhooks:delayed`;
  await expect.poll(() => redis.zcard(delayed), { timeout: 10_000 }).toBe(2);
  for (const id of ids) {
    const opts = JSON.parse((await redis.hget(job(id), "opts")) ?? "{}") as object;
    await redis.hset(job(id), "opts", JSON.stringify({ ...opts, attempts: 1 }));
  }
  await expect.poll(() => redis.zcard(`${keys.bull}:webhooks:failed`), { timeout: 15_000 }).toBe(2);
  return {
    mend: async () => {
      for (const id of ids) {
        const data = JSON.parse((await redis.hget(job(id), "data")) ?? "{}") as object;
        await redis.hset(job(id), "data", JSON.stringify({ ...data, key: "webhook" }));
      }
    },
  };
}
