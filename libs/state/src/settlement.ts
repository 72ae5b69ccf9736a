import type { EndedBy, ErrorInfo, FinalStatus } from "@drover/contracts";
import type { Payload } from "./payload.js";
import type { ScriptArg } from "./scripts.js";

/** What settle commits: the translation of an outcome. */
export type Settlement =
  | { what: "final"; status: FinalStatus; endedBy: EndedBy; error: ErrorInfo | null; output: Payload | null }
  | {
      what: "interrupted";
      checkpointId: string;
      approvals: {
        approvalId: string;
        title: string;
        json: string;
        /** Milliseconds until it expires; left out where it waits for ever. */
        expiresMs?: number;
      }[];
    }
  | {
      what: "again";
      kind: "retry" | "handover";
      delayMs: number;
      error: ErrorInfo | null;
      spendsAttempt: boolean;
    };

/** The form in which settle.lua takes it. */
export function settlementArgs(settlement: Settlement): ScriptArg[] {
  switch (settlement.what) {
    case "final": {
      const { status, endedBy, error, output } = settlement;
      return [status, endedBy, error ? JSON.stringify(error) : "", output ?? ""];
    }
    case "interrupted":
      return [
        settlement.checkpointId,
        ...settlement.approvals.flatMap((a) => [a.approvalId, a.title, a.json, a.expiresMs ?? ""]),
      ];
    case "again": {
      const { kind, delayMs, error, spendsAttempt } = settlement;
      return [kind, Math.round(delayMs), error ? JSON.stringify(error) : "", spendsAttempt ? "1" : "0"];
    }
  }
}
