import { type ConcurrencyLimits, noUsage, sharesOf } from "@drover/contracts";
import { type RedisServer, startRedis } from "@drover/embedded";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { encodePayload } from "./payload.js";
import { Shares } from "./shares.js";
import { AGENTS, ref, request, success, taken, testState } from "./testing/runs.js";

const QUESTION = { interruptId: "i", actions: null, value: "?" };

let server: RedisServer;
let state: ReturnType<typeof testState>;
let shares: Shares;
let n = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => {
  n += 1;
  state = testState(server, `shares${n}`);
  shares = new Shares(state.redis, state.keys, 0);
});
afterEach(() => state.close());

const own = (key: string, limit: number, agent = "clerk") =>
  sharesOf({ tenant: "default", agent, own: { key, limit } }, { tenants: {}, agents: {}, keys: {} });
const activation = (id: string, seq = 1) => ({ ...ref(id, id), seq });
const take = async (id: string, limits = own("k", 2), { seq = 1, delivery = 1, priority = 5 } = {}) => {
  const { waitsFor, granted } = await shares.take({ ...activation(id, seq), delivery }, priority, limits);
  return [waitsFor?.name ?? "taken", ...granted.map(({ runId }) => runId)];
};
const drop = async (id: string, seq = 1, upTo: number | "" = "") =>
  (await shares.drop(activation(id, seq), upTo)).map(({ runId }) => runId);
const left = async () =>
  (await state.redis.keys(`shares${n}:{index}:share*`)).map((key) => key.split("}:")[1]);

describe("a limit of concurrent runs", () => {
  it("lets as many in as it says, hands a share on to who waited longest, and leaves nothing behind", async () => {
    expect(await take("a")).toEqual(["taken"]);
    expect(await take("b")).toEqual(["taken"]);
    expect(await take("c")).toEqual(["k"]);
    expect(await take("d")).toEqual(["k"]);
    // Again changes nothing: neither who has a share nor who is next.
    expect(await take("a")).toEqual(["taken"]);
    expect(await take("c")).toEqual(["k"]);
    expect(await shares.standing(activation("d"))).toEqual({
      ...{ kind: "key", name: "k", limit: 2, held: 2, ahead: 1 },
    });
    expect(await drop("a")).toEqual(["c"]);
    expect(await drop("a")).toEqual([]);
    expect(await take("c")).toEqual(["taken"]);
    expect(await drop("b")).toEqual(["d"]);
    expect(await drop("c")).toEqual([]);
    expect(await drop("d")).toEqual([]);
    expect(await left()).toEqual([]);
  });

  it("goes by class: runs that had begun, then by priority", async () => {
    await take("a", own("k", 1));
    await take("late", own("k", 1), { priority: 9 });
    await take("early", own("k", 1), { priority: 0 });
    await take("begun", own("k", 1), { seq: 2, priority: 9 });
    expect([await drop("a"), await drop("begun", 2), await drop("early")]).toEqual([
      ["begun"],
      ["early"],
      ["late"],
    ]);
  });

  it("takes turns between those that share it: one tenant's many runs do not keep another's one out", async () => {
    const limits: ConcurrencyLimits = { tenants: {}, agents: { clerk: 1 }, keys: {} };
    const of = (tenant: string) => sharesOf({ tenant, agent: "clerk", own: null }, limits);
    await take("first", of("big"));
    for (let i = 0; i < 5; i += 1) await take(`big${i}`, of("big"));
    await take("small", of("small"));
    const order: string[] = [];
    for (let next: string | undefined = "first"; next; ) {
      [next] = await drop(next);
      if (next) order.push(next);
    }
    expect(order.indexOf("small")).toBeLessThanOrEqual(1);
    expect(order.filter((id) => id.startsWith("big"))).toEqual(["big0", "big1", "big2", "big3", "big4"]);
  });

  it("of several keys holds for all of them: none is kept while another is waited for", async () => {
    const both = [...own("x", 1), ...own("y", 1)];
    expect(await take("a", own("y", 1))).toEqual(["taken"]);
    expect(await take("b", both)).toEqual(["y"]);
    // `b` waits for y and keeps x from nobody.
    expect(await take("c", own("x", 1))).toEqual(["taken"]);
    expect(await drop("a")).toEqual([]);
    expect(await shares.standing(activation("b"))).toMatchObject({ name: "x" });
    expect(await drop("c")).toEqual(["b"]);
    expect(await drop("b")).toEqual([]);
    expect(await left()).toEqual([]);
  });

  it("is not taken back from a delivery that came after those that are void", async () => {
    await take("a", own("k", 1), { delivery: 2 });
    await take("b", own("k", 1));
    expect(await drop("a", 1, 1)).toEqual([]);
    expect(await drop("a", 1, 2)).toEqual(["b"]);
  });

  it("that is raised lets in who waits", async () => {
    await take("a", own("k", 1));
    await take("b", own("k", 1));
    await take("c", own("k", 1));
    expect(await take("d", own("k", 3))).toEqual(["k", "b", "c"]);
  });
});

describe("a Redis that has no memory left", () => {
  const full = async (isFull: boolean) => state.redis.config("SET", "maxmemory", isFull ? "1" : "0");

  it("does a change as a whole or not at all: nobody loses a share, or a place in line", async () => {
    await take("a", own("k", 1));
    await take("b", own("k", 1));
    await full(true);
    await expect(drop("a")).rejects.toMatchObject({ code: "REDIS_REFUSED" });
    await full(false);
    expect(await shares.standing(activation("b"))).toMatchObject({ held: 1, ahead: 0 });
    expect(await drop("a")).toEqual(["b"]);
  });

  it("leaves a question as it was whose run could not be cancelled", async () => {
    const run = ref("full", "full");
    const accepted = request();
    await state.runs.admit(run, accepted, encodePayload(accepted), "full");
    const { lease } = taken(await state.runs.claim(run, 1, "w", AGENTS));
    const approvals = [{ approvalId: "x", title: "t", question: QUESTION }];
    await state.runs.settle(lease, noUsage(), { what: "interrupted", checkpointId: "c", approvals });
    await full(true);
    const cancelled = state.runs.cancel(run, { code: "CANCELLED", message: "no" });
    await expect(cancelled).rejects.toMatchObject({ code: "REDIS_REFUSED" });
    await full(false);
    expect(await state.reader.approvals(run)).toMatchObject([{ approvalId: "x", status: "pending" }]);
  });
});

describe("who lost the place in line", () => {
  it("is put there again when it comes back, or when a sweeper looks", async () => {
    await take("a", own("k", 1));
    await take("b", own("k", 1));
    const waiting = state.keys.index("share:key:default/k:waiting");
    await state.redis.del(waiting);
    expect(await take("b", own("k", 1))).toEqual(["k"]);
    expect(await state.redis.zcard(waiting)).toBe(1);
    await state.redis.del(waiting);
    await shares.look(10);
    expect(await drop("a")).toEqual(["b"]);
  });
});

describe("a run's end", () => {
  const admitted = async (id: string) => {
    const accepted = request({ concurrencyKey: "k" });
    const { transition } = await state.runs.admit(ref(id, id), accepted, encodePayload(accepted), id);
    await state.indexes.apply([transition]);
  };
  const claimed = async (id: string, seq = 1) =>
    taken(await state.runs.claim(ref(id, id), seq, "w", AGENTS, [], 1));
  const granted = async (...transitions: Parameters<typeof state.indexes.apply>[0]) =>
    (await state.indexes.apply(transitions)).map(({ runId }) => runId);

  it("gives its share back, whatever is applied late or twice", async () => {
    for (const id of ["a", "b"]) {
      await admitted(id);
      expect((await state.runs.claim(ref(id, id), 1, "w", AGENTS)).what).toBe("limited");
      await take(id, own("k", 1));
    }
    const { lease, transition: running } = await claimed("a");
    const ended = await state.runs.settle(lease, noUsage(), success);
    expect(await granted(...(ended ? [ended, running, ended] : []))).toEqual(["b"]);
    expect(await granted(running)).toEqual([]);
  });

  it("by a crash keeps it for whoever goes on; by a question gives it back", async () => {
    for (const id of ["a", "b"]) {
      await admitted(id);
      await take(id, own("k", 1));
    }
    await claimed("a");
    const { transitions } = await state.runs.takeover(ref("a", "a"), "w");
    expect(await granted(...transitions)).toEqual([]);
    expect(await take("a", own("k", 1), { seq: 2 })).toEqual(["taken"]);
    const { lease } = await claimed("a", 2);
    const asked = await state.runs.settle(lease, noUsage(), {
      what: "interrupted",
      checkpointId: "c",
      approvals: [
        { approvalId: "x", title: "t", question: { interruptId: "i", actions: null, value: null } },
      ],
    });
    expect(await granted(...(asked ? [asked] : []))).toEqual(["b"]);
  });

  it("while it waits gives its place up", async () => {
    for (const id of ["a", "b"]) {
      await admitted(id);
      await take(id, own("k", 1));
    }
    const { transition } = await state.runs.cancel(ref("b", "b"), { code: "CANCELLED", message: "no" });
    expect(await granted(...(transition ? [transition] : []))).toEqual([]);
    expect(await drop("a")).toEqual([]);
    expect(await left()).toEqual([]);
  });
});
