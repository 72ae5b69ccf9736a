/** Runs whose place another one took: as many as there were others that wanted it, and what was taken back is gone. */
import type { State } from "@drover/state";
import { RedisSaver } from "@drover/state/checkpoints";
import type { RunHistory } from "./history.js";
import type { Fault } from "./report.js";

export async function checkReplaced(state: State, histories: readonly RunHistory[]): Promise<Fault[]> {
  return [...checkReplacers(histories), ...(await checkTakenBack(state, histories))];
}

/** A run takes the place of one other at most, also where its request was sent twice. */
function checkReplacers(histories: readonly RunHistory[]): Fault[] {
  const threads = [...new Set(histories.map(({ threadId }) => threadId))];
  return threads.flatMap((threadId): Fault[] => {
    const all = histories.filter((history) => history.threadId === threadId);
    const wanted = all.filter(
      ({ plan, acceptance }) =>
        acceptance !== "refused" && (plan.strategy === "interrupt" || plan.strategy === "rollback"),
    );
    const replaced = all.filter(({ record }) =>
      record?.error?.message.startsWith("Another run took its place"),
    );
    if (replaced.length <= wanted.length) return [];
    const labels = replaced.map(({ plan }) => plan.label).join(", ");
    const what = `${labels} of thread ${threadId} were replaced, and ${wanted.length} runs wanted that`;
    return [{ kind: "lost", run: replaced.at(-1)?.plan.label ?? null, what }];
  });
}

async function checkTakenBack(state: State, histories: readonly RunHistory[]): Promise<Fault[]> {
  const { redis, keys } = state;
  const saver = new RedisSaver({ redis, keys, tenant: "default" });
  const faults: Fault[] = [];
  for (const { record, plan, retries } of histories) {
    if (!record?.error?.message.endsWith("was taken back.") || retries > 0) continue;
    const config = { configurable: { thread_id: record.threadId } };
    for await (const { metadata } of saver.list(config)) {
      if ((metadata as { run_id?: unknown } | undefined)?.run_id !== record.runId) continue;
      faults.push({
        kind: "staleWrites",
        run: plan.label,
        what: "a checkpoint of it is left that was taken back",
      });
      break;
    }
  }
  return faults;
}
