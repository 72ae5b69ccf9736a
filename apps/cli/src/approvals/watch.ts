import { setTimeout as sleep } from "node:timers/promises";
import type { Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { oneLine } from "../output/text.js";
import { type Filter, waitingApprovals } from "./selection.js";
import { questionOf } from "./view.js";

/** Milliseconds between two looks. */
const LOOK_MS = 1000;

/** Shows what waits and what comes, one line each, until Ctrl-C; says what was answered meanwhile. */
export async function watchApprovals(cli: Cli, filter: Filter): Promise<ExitCode | undefined> {
  const { out, interruption } = cli;
  return withConnection(cli, {}, async ({ client }) => {
    const known = new Set<string>();
    out.note("Watching for questions; Ctrl-C ends.");
    while (!interruption.signal.aborted) {
      const waiting = new Set<string>();
      for await (const approval of waitingApprovals(client, filter)) {
        waiting.add(approval.approvalId);
        if (known.has(approval.approvalId)) continue;
        known.add(approval.approvalId);
        out.value(approval);
        out.line(`${approval.approvalId}  ${approval.agent}  ${oneLine(questionOf(approval))}`);
      }
      for (const id of known) {
        if (waiting.has(id)) continue;
        known.delete(id);
        const approval = await client.approvals.get(id).catch(() => null);
        if (!approval) continue;
        out.value(approval);
        const by = approval.answer?.decidedBy;
        out.line(`${id}  ${approval.status}${by ? ` by ${oneLine(by)}` : ""}`);
      }
      await sleep(LOOK_MS, undefined, { signal: interruption.signal }).catch(() => {});
    }
    return undefined;
  });
}
