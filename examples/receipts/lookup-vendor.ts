import { createHash } from "node:crypto";
import { type ToolRuntime, tool } from "langchain";
import { z } from "zod";
import { contextOf } from "./receipt.js";
import { vendorId } from "./vendors.js";

/** One try in eight fails; after this many failures the next try of a call succeeds. */
const FAILING_SHARE = 1 / 8;
export const MOST_FAILURES = 3;
const DEFAULT_SEED = 7;

/** What a busy register answers; worth another try. */
export class RegisterUnavailable extends Error {
  override readonly name = "RegisterUnavailable";
  readonly status = 503;
}

/** Tries so far of the calls that have not succeeded yet. In memory: after a crash a call starts from its first. */
const tries = new Map<string, number>();

/** Whether a try fails: a matter of the seed, the company and the number of the try, and of nothing else. */
export function tryFails(seed: number, company: string, attempt: number): boolean {
  if (attempt >= MOST_FAILURES) return false;
  const hash = createHash("sha256").update(`${seed}\n${company}\n${attempt}`).digest();
  return hash.readUInt32BE(0) / 2 ** 32 < FAILING_SHARE;
}

export const lookupVendor = tool(
  ({ company }, runtime: ToolRuntime) => {
    const call = `${runtime.configurable?.thread_id ?? ""}/${runtime.toolCallId}`;
    const attempt = tries.get(call) ?? 0;
    if (tryFails(contextOf(runtime).seed ?? DEFAULT_SEED, company, attempt)) {
      tries.set(call, attempt + 1);
      throw new RegisterUnavailable("The vendor register is busy. Try again.");
    }
    tries.delete(call);
    const id = vendorId(company);
    return JSON.stringify({ vendorId: id, registered: id !== null });
  },
  {
    name: "lookup_vendor",
    description: "Finds a vendor in the register by the company's name as printed on the receipt.",
    schema: z.object({ company: z.string() }),
  },
);
