import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two looks at a batch: seldom enough to cost nothing. */
const LOOK_MS = 100;
const PAGE = 500;

/**
 * Runs the receipts agent on each text as one batch, as a producer does: enqueue, wait, read the results.
 *
 * @param {import("@drover/queue").Client} client
 * @param {string[]} texts
 * @param {import("@drover/queue").Client} [observer] who looks whether it has ended, where that must not be counted
 * @returns {Promise<import("@drover/contracts").Run[]>} in the order of the texts. Throws unless all succeeded.
 */
export async function runBatch(client, texts, observer = client) {
  const { batchId } = await client.openBatch({ agent: "receipts" });
  const handles = await client.enqueueMany(
    texts.map((input, i) => ({ agent: "receipts", input, batchId, document: String(i) })),
  );
  await client.sealBatch(batchId);
  while ((await observer.batch(batchId)).finishedAt === null) await sleep(LOOK_MS);
  const runs = [];
  for (let offset = 0; offset < handles.length; offset += PAGE) {
    runs.push(...(await client.batchRuns(batchId, offset, PAGE)));
  }
  const failed = runs.find(({ status }) => status !== "success");
  if (failed || runs.length !== texts.length) {
    throw new Error(`not every run succeeded: ${JSON.stringify(failed ?? runs.length)}`);
  }
  return runs.sort((a, b) => Number(a.document) - Number(b.document));
}

/** Milliseconds from the first start to the last end, by the runs' records. */
export function spanOf(runs) {
  const first = Math.min(...runs.map(({ startedAt }) => startedAt));
  const last = Math.max(...runs.map(({ finishedAt }) => finishedAt));
  return last - first;
}
