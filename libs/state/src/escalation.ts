import type { ApprovalTerms, Transition } from "@drover/contracts";
import { sealJson } from "./encryption/sealed.js";
import type { RunRef } from "./run-store.js";
import { loadScript, replyWords, runScript } from "./scripts.js";
import type { State } from "./state.js";
import { parseTransition } from "./transitions.js";

const script = loadScript("escalate");

/** Passes an approval whose time is over on to others. Null where it was answered, or its time is not over. */
export async function escalate(
  { redis, keys, codec }: Pick<State, "redis" | "keys" | "codec">,
  run: RunRef,
  approval: { approvalId: string; title: string; terms: ApprovalTerms },
): Promise<Transition | null> {
  const { approvalId, title, terms } = approval;
  const args = [run.runId, approvalId, sealJson(terms, codec), terms.expiresMs ?? 0, title];
  const { base } = keys.thread(run.tenant, run.threadId);
  const { what, rest } = replyWords(await runScript(redis, script, [base], args));
  return what === "escalated" ? parseTransition(run, rest[0]) : null;
}
