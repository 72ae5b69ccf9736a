/** What was taken back is gone: no checkpoint of such a run is left in its thread. */
import type { State } from "@drover/state";
import { RedisSaver } from "@drover/state/checkpoints";
import type { RunHistory } from "./history.js";
import type { Fault } from "./report.js";

export async function checkRollbacks(state: State, histories: readonly RunHistory[]): Promise<Fault[]> {
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
