import type { CallInQuestion } from "@drover/runtime";

export const APPROVAL_THRESHOLD_IDR = 50_000_000;

/** The debit side of an entry, in rupiah. What is no number counts as too much: somebody should look at it. */
export function debitOf(args: Record<string, unknown>): number {
  const lines = Array.isArray(args.lines) ? args.lines : [];
  const sum = lines.reduce((total: number, line) => total + Number(line?.debit ?? 0), 0);
  return Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum;
}

/** Below the threshold nobody is asked. */
export function needsApproval({ toolCall }: CallInQuestion): boolean {
  return debitOf(toolCall.args) >= APPROVAL_THRESHOLD_IDR;
}
