import type { Usage } from "@drover/contracts";

/** What the rest of a batch will take, going by the part that ran. */
export interface Estimate {
  documents: number;
  /** An upper bound where the trial was too small to fill the fleet. */
  ms: number;
  tokens: number;
  /** Null where no price is known. */
  dollars: number | null;
  /** Whether the trial was smaller than what the fleet works on at once: the rest will then go faster. */
  isFasterAtScale: boolean;
}

export interface Trial {
  documents: number;
  ms: number;
  /** Of all runs of the batch so far, and how many those are. */
  usage: Usage;
  runs: number;
  /** Runs at once of all workers. */
  slots: number;
}

export function estimateRest(rest: number, { documents, ms, usage, runs, slots }: Trial): Estimate {
  const each = (sum: number): number => (runs > 0 ? (sum / runs) * rest : 0);
  return {
    documents: rest,
    ms: Math.round(documents > 0 ? (ms / documents) * rest : 0),
    tokens: Math.round(each(usage.inputTokens + usage.outputTokens)),
    dollars: usage.costMicros > 0 ? each(usage.costMicros) / 1e6 : null,
    isFasterAtScale: documents < slots,
  };
}
