import { join } from "node:path";
import { startRedis } from "@drover/embedded";
import { Client } from "@drover/queue";
import { root } from "../setup.mjs";
import { startChild, WORKER } from "./child.mjs";
import { withCleanUp } from "./clean-up.mjs";
import { median, rounded } from "./statistics.mjs";

const PENDING = 10_000;
const CHUNK = 1000;
const PAGE = 20;
const ROUNDS = 200;
const PREFIX = "bench-approvals";

/** 10,000 runs of a worker process stop at a question; then pages are listed and single questions decided. */
export async function measure(say) {
  return withCleanUp(async (later) => {
    const redis = await startRedis();
    later(() => redis.stop());
    const worker = await startChild(WORKER, {
      REDIS_URL: redis.url,
      DROVER_PREFIX: PREFIX,
      DROVER_ROOT: join(root, "scripts/bench/project"),
      LOG_LEVEL: "warn",
    });
    later(() => worker.stop());
    const client = new Client({ redisUrl: redis.url, prefix: PREFIX, readAnswer: (_, answer) => answer });
    later(() => client.close());

    await ask(client, say);
    const pending = await client.approvals.count();
    const held = await slotsInUse(worker.hello.url);
    if (held !== 0) throw new Error(`${held} slots are held by runs that wait for a person`);

    const lists = await timed(ROUNDS, async (i) => {
      const offset = (i * 997) % (pending - PAGE);
      const { length } = await client.approvals.list({ limit: PAGE, offset });
      if (length !== PAGE) throw new Error(`a page of ${length} approvals`);
    });
    const ids = (await client.approvals.list({ limit: ROUNDS, offset: 3000 })).map((a) => a.approvalId);
    const decisions = await timed(ROUNDS, (i) =>
      client.approvals.decide(ids[i], { decisions: [{ type: "approve" }], decidedBy: "ada" }),
    );
    return { pending, listP50Ms: rounded(median(lists)), decideP50Ms: rounded(median(decisions)) };
  });
}

async function ask(client, say) {
  for (let from = 0; from < PENDING; from += CHUNK) {
    const requests = Array.from({ length: CHUNK }, (_, i) => ({
      agent: "asks",
      input: { text: `expense ${from + i}` },
    }));
    await client.enqueueMany(requests);
    while ((await client.approvals.count()) < from + CHUNK) await pause(100);
    say(`${from + CHUNK} of ${PENDING} runs wait for a decision`);
  }
  // The last one is listed before its delivery has ended.
  await pause(2000);
}

async function slotsInUse(url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^drover_worker_slots_in_use\S* (\d+)/m.exec(text)?.[1]);
}

async function timed(rounds, act) {
  const times = [];
  for (let i = 0; i < rounds; i += 1) {
    const start = performance.now();
    await act(i);
    times.push(performance.now() - start);
  }
  return times;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function rows({ pending, listP50Ms, decideP50Ms }) {
  return [
    ["figure", "measured", "aim"],
    ["approvals that wait", `${pending}`, ""],
    [`listing a page of ${PAGE}, median`, `${listP50Ms} ms`, "below 20 ms"],
    ["deciding one, median", `${decideP50Ms} ms`, "below 20 ms"],
  ];
}
