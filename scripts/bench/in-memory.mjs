/** Limits of one run, in memory. @returns {import("@drover/contracts").Counters} */
export function countersInMemory() {
  const taken = new Map();
  const nameOf = ({ scope, name }) => `${scope}:${name}`;
  const of = (limit) => taken.get(nameOf(limit)) ?? 0;
  return {
    async take(limits) {
      const full = limits.find((limit) => of(limit) >= limit.limit);
      if (full) return nameOf(full);
      for (const limit of limits) taken.set(nameOf(limit), of(limit) + 1);
      return null;
    },
  };
}

/** The ledger of one run's effects, in memory. @returns {import("@drover/contracts").Effects} */
export function effectsInMemory() {
  const started = new Set();
  const done = new Map();
  return {
    async claim(id) {
      if (done.has(id)) return { state: "committed", result: done.get(id) };
      if (started.has(id)) return { state: "unknown", startedAt: 0 };
      started.add(id);
      return { state: "claimed" };
    },
    async commit(id, result) {
      done.set(id, result);
    },
    async release(id) {
      started.delete(id);
    },
  };
}
