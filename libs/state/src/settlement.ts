import type { EndedBy, ErrorInfo, FinalStatus, InterruptQuestion } from "@drover/contracts";
import type { Codec } from "./encryption/codec.js";
import { sealError, sealJson } from "./encryption/sealed.js";
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
        question: InterruptQuestion;
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
export function settlementArgs(settlement: Settlement, codec?: Codec): ScriptArg[] {
  switch (settlement.what) {
    case "final": {
      const { status, endedBy, error, output } = settlement;
      return [status, endedBy, errorArg(error, codec), output ?? ""];
    }
    case "interrupted":
      return [
        settlement.checkpointId,
        ...settlement.approvals.flatMap((a) => [
          a.approvalId,
          a.title,
          sealJson(a.question, codec),
          a.expiresMs ?? "",
        ]),
      ];
    case "again": {
      const { kind, delayMs, error, spendsAttempt } = settlement;
      return [kind, Math.round(delayMs), errorArg(error, codec), spendsAttempt ? "1" : "0"];
    }
  }
}

/** An error as scripts take it; empty for none. */
export function errorArg(error: ErrorInfo | null | undefined, codec: Codec | undefined): string {
  return error ? JSON.stringify(sealError(error, codec)) : "";
}
