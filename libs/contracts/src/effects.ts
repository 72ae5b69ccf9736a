/** What became of a tool call that must not happen twice. */
export type EffectClaim =
  /** Nobody started it: this worker does now. */
  | { state: "claimed" }
  /** It was finished: here is its result, as it was committed. */
  | { state: "committed"; result: unknown }
  /** Somebody started it and did not say how it ended. */
  | { state: "unknown"; startedAt: number };

/** The ledger of tool calls that are marked once. Implemented by libs/state, fenced by the lease. */
export interface Effects {
  claim(effectId: string): Promise<EffectClaim>;
  commit(effectId: string, result: unknown): Promise<void>;
  /** The tool said, before it did anything, that it did nothing: the call may be started again. */
  release(effectId: string): Promise<void>;
}
