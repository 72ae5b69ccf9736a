import { type Notice, noUsage } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { type ConnectionOptions, Queue, Worker } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { Client } from "./client.js";
import { ReplyTrimmer } from "./reply-trimmer.js";

const LIFE_MS = 1000;
const MOST = 5;

let server: RedisServer;
let client: Client;
let unread: Queue<Notice>;
let dropped: [string, number][];
let n = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => {
  n += 1;
  const retention = { replies: LIFE_MS / 1000, repliesLength: MOST };
  client = new Client({ redisUrl: server.url, prefix: `t${n}`, retention });
  unread = new Queue<Notice>("abandoned", options());
  dropped = [];
});
afterEach(async () => {
  await unread.close();
  await client.close();
});

const options = () => ({
  connection: client.state.redis as unknown as ConnectionOptions,
  prefix: client.state.keys.bull,
});
const trimmer = () =>
  new ReplyTrimmer(client.state, client.queue.notices, (queue, count) => dropped.push([queue, count]));
const waiting = async () => (await unread.getJobs(["wait"], 0, -1, true)).map((job) => job.data.id);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function tell(...ids: number[]): Promise<void> {
  const at = await client.state.indexes.now();
  const about = { runId: "r", threadId: "t", agent: "clerk", correlationId: null, tenant: "default" };
  const end = { status: "success", endedBy: "completed", error: null, output: null } as const;
  for (const id of ids) {
    await client.queue.notices.reply(client.state, "abandoned", {
      v: 1,
      id: `notice-${id}`,
      type: "run.final",
      at,
      ...about,
      ...end,
      outputOmitted: false,
      usage: noUsage(),
    });
  }
}
const ids = (...of: number[]) => of.map((id) => `notice-${id}`);

it("notices beyond the length go, the oldest first, and none within it", async () => {
  await tell(1, 2, 3, 4, 5);
  await trimmer().trim();
  expect(await waiting()).toEqual(ids(1, 2, 3, 4, 5));
  await tell(6, 7);
  await trimmer().trim();
  expect(await waiting()).toEqual(ids(3, 4, 5, 6, 7));
  expect(dropped).toEqual([["abandoned", 2]]);
});

it("notices beyond their life go, and then all of a queue on which nobody was told anything since", async () => {
  await tell(1, 2);
  await pause(LIFE_MS + 50);
  await tell(3);
  await trimmer().trim();
  expect(await waiting()).toEqual(ids(3));
  await pause(LIFE_MS + 50);
  await trimmer().trim();
  await trimmer().trim();
  expect(dropped).toEqual([
    ["abandoned", 2],
    ["abandoned", 1],
  ]);
  expect(await client.state.redis.keys(`${client.state.keys.bull}:abandoned:*`)).toEqual([]);
  await trimmer().trim();
  expect((await client.state.replyQueues.page("0")).queues).toEqual([]);
});

it("a queue that is read stays, and one that was forgotten serves again", async () => {
  await tell(1);
  const read: string[] = [];
  const reader = new Worker<Notice>("abandoned", async (job) => void read.push(job.data.id), {
    connection: { url: server.url, maxRetriesPerRequest: null },
    prefix: client.state.keys.bull,
  });
  await expect.poll(() => read).toEqual(ids(1));
  await pause(LIFE_MS + 50);
  await trimmer().trim();
  expect(await client.state.redis.keys(`${client.state.keys.bull}:abandoned:meta`)).toEqual([]);
  await tell(2);
  await expect.poll(() => read).toEqual(ids(1, 2));
  expect(dropped).toEqual([]);
  await reader.close();
});
