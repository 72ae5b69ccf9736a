import type { EffectClaim, Effects, Lease } from "@drover/contracts";
import type { Redis } from "./connect.js";
import type { Codec } from "./encryption/codec.js";
import { openJson, sealJson } from "./encryption/sealed.js";
import type { Keys } from "./keys.js";
import { leaseLost } from "./refusals.js";
import { loadScript, newToken, replyWords, runScript } from "./scripts.js";

const effect = loadScript("effect");

/** The thread's ledger of tool calls that must not happen twice, under the lease. */
export function createEffects(redis: Redis, keys: Keys, lease: Lease, codec?: Codec): Effects {
  const k = keys.thread(lease.tenant, lease.threadId);
  const call = async (what: "claim" | "commit" | "release", id: string, result = "") => {
    const args = [lease.epoch, lease.worker, what, id, result, newToken()];
    const reply = replyWords(await runScript(redis, effect, [k.thread, k.effects], args));
    if (reply.what === "lost") throw leaseLost(lease);
    return reply;
  };
  return {
    async claim(id): Promise<EffectClaim> {
      const { what, rest } = await call("claim", id);
      if (what === "claimed") return { state: "claimed" };
      if (what === "committed") return { state: "committed", result: openJson(String(rest[0]), codec) };
      return { state: "unknown", startedAt: Number(rest[0]) };
    },
    async commit(id, result) {
      await call("commit", id, sealJson(result, codec));
    },
    async release(id) {
      await call("release", id);
    },
  };
}
