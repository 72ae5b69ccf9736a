/** Takes units from limits that the whole fleet shares. Implemented by libs/state, fenced by the lease. */
export interface Counters {
  /**
   * Takes one unit of each named counter if every one is below its limit, or none at all.
   * A name is for example `model:run:<runId>` or `tool:post_expense:thread`.
   * Returns null when taken, else `scope:name` of the first counter that is at its limit. Throws LEASE_LOST.
   */
  take(limits: readonly CounterLimit[]): Promise<string | null>;
}

export interface CounterLimit {
  scope: "run" | "thread";
  /** What is counted: `model`, `tools`, or `tool:<name>`. */
  name: string;
  limit: number;
}
