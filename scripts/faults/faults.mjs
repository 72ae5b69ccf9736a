import { setTimeout as sleep } from "node:timers/promises";

const every = (ms, act) => {
  const timer = setInterval(act, ms);
  return async () => clearInterval(timer);
};

/** Makes the provider answer so, and gives back what it was before. */
const answering = (reply) => async (arena) => {
  arena.provider.use(reply);
  return async () => arena.provider.use(arena.script);
};

/** What goes wrong, and how. `begin` gives what ends it. */
export const FAULTS = {
  "provider-down": { what: "the model's provider fails", begin: answering(() => ({ status: 503 })) },
  "provider-slow": {
    what: "the model's provider takes its time",
    begin: answering(() => ({ text: "done", delayMs: 45_000 })),
  },
  "rate-limit": {
    what: "the provider refuses requests for their rate",
    begin: answering(() => ({ status: 429, retryAfter: 1 })),
  },
  "bad-key": { what: "the provider refuses the key", begin: answering(() => ({ status: 401 })) },
  "tool-fails": {
    what: "a tool's other side does not answer",
    begin: async (arena) => every(400, () => arena.start("broken tool")),
  },
  "worker-killed": {
    what: "a worker is killed with runs in hand",
    begin: async (arena) => {
      for (let i = 0; i < 20; i += 1) arena.start("slow");
      await sleep(2000);
      arena.kill(0);
      return async () => {};
    },
  },
  "loop-blocked": {
    what: "an agent blocks its worker's event loop",
    begin: async (arena) =>
      every(10_000, () => arena.start({ id: `block-${Date.now()}`, ms: 9000 }, { agent: "blocker" })),
  },
  "redis-full": {
    what: "Redis is full",
    begin: async (arena) => {
      await arena.limitMemory(1.02);
      return () => arena.limitMemory(null);
    },
  },
  "approvals-pile-up": {
    what: "people do not answer",
    begin: async (arena) => every(60, () => arena.start("ask")),
  },
  "poisonous-document": {
    what: "a document kills each worker that reads it",
    begin: async (arena) => {
      arena.start({ id: "poisonous" }, { agent: "reader" });
      return async () => {};
    },
  },
};
