import type { Redactor } from "@drover/contracts";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { afterAll, expect, it } from "vitest";
import { createAesCodec } from "../encryption/aes-codec.js";
import { createKeys } from "../keys.js";
import { RedisSaver, type RedisSaverOptions } from "./redis-saver.js";
import { listAll, putValues, valuesOf } from "./testing/puts.js";
import { startTestRedis } from "./testing/redis-servers.js";

const server = await startTestRedis({ appendOnly: true });
afterAll(() => server.stop());
let tenant = 0;
const options = (more: Partial<RedisSaverOptions> = {}): RedisSaverOptions => {
  tenant += 1;
  return { redis: server.redis, keys: createKeys(), tenant: `t${tenant}`, ...more };
};

it("has what was acknowledged after Redis was killed and started again", async () => {
  const settings = options();
  const saver = new RedisSaver(settings);
  let config = await putValues(saver, { threadId: "t" }, { messages: [new HumanMessage("0")] });
  let acknowledged = 0;
  const writer = (async () => {
    for (let i = 1; i < 400; i += 1) {
      config = await putValues(
        saver,
        { threadId: "t", parent: config },
        { messages: [new HumanMessage(`${i}`)], i },
      );
      acknowledged = i;
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const before = acknowledged;
  await server.restart();
  const seen = await valuesOf(new RedisSaver(settings), { configurable: { thread_id: "t" } });
  expect(Number(seen?.i ?? 0)).toBeGreaterThanOrEqual(before);
  await writer;
  const tuples = await listAll(new RedisSaver(settings), { thread_id: "t" });
  expect(tuples.map(({ checkpoint }) => checkpoint.channel_values.i ?? 0)).toEqual(
    Array.from({ length: 400 }, (_, i) => 399 - i),
  );
}, 40_000);

it("keeps the order when the server forgot its scripts", async () => {
  const settings = options();
  const saver = new RedisSaver(settings);
  const root = await putValues(saver, { threadId: "t" }, { messages: [new HumanMessage("x")] });
  const all: Promise<unknown>[] = [];
  for (let i = 0; i < 30; i += 1) {
    if (i % 7 === 0) await server.redis.script("FLUSH");
    all.push(saver.putWrites(root, [["messages", new AIMessage(`${i}`)]], `task-${i}`));
    all.push(putValues(saver, { threadId: "t" }, { i }));
    if (i % 3 === 0) await all.at(-1);
  }
  await Promise.all(all);
  await server.redis.script("FLUSH");
  const [head] = await listAll(new RedisSaver(settings), { thread_id: "t" }, { limit: 1 });
  expect(head?.checkpoint.channel_values.i).toBe(29);
  expect((await new RedisSaver(settings).getTuple(root))?.pendingWrites).toHaveLength(30);
});

it("keeps every write of two savers that hammer one thread without a lease", async () => {
  const settings = options();
  const hammer = async (name: string) => {
    const saver = new RedisSaver(settings);
    for (let i = 0; i < 60; i += 1) {
      await putValues(
        saver,
        { threadId: "t" },
        { [name]: i, messages: [new AIMessage(`${name} ${i} ${"x".repeat(300)}`)] },
      );
    }
  };
  await Promise.all([hammer("a"), hammer("b")]);
  const values = (await listAll(new RedisSaver(settings), { thread_id: "t" })).map(
    (t) => t.checkpoint.channel_values,
  );
  expect(values).toHaveLength(120);
  for (const name of ["a", "b"]) {
    const own = values.filter((one) => name in one);
    expect(own.map((one) => one[name])).toEqual(Array.from({ length: 60 }, (_, i) => 59 - i));
    for (const one of own) {
      expect((one.messages as AIMessage[])[0]?.content).toMatch(new RegExp(`^${name} ${one[name]} x{300}$`));
    }
  }
});

it("loads in parallel while it and another saver write", async () => {
  const settings = options();
  const [saver, other] = [new RedisSaver(settings), new RedisSaver(settings)];
  const text = (i: number) => `${i} ${"y".repeat(300)}`;
  let config = await putValues(saver, { threadId: "t" }, { messages: [new AIMessage(text(0))], n: 1 });
  for (let n = 2; n < 40; n += 1) {
    const messages = Array.from({ length: n }, (_, i) => new AIMessage(text(i)));
    const loads = [1, 2, 3].map(() => valuesOf(saver, { configurable: { thread_id: "t" } }));
    const foreign = putValues(
      other,
      { threadId: "t", namespace: "other" },
      { messages: [new AIMessage(text(n + 1000))] },
    );
    const put = putValues(saver, { threadId: "t", parent: config }, { messages, n });
    for (const values of await Promise.all(loads)) {
      const seen = values?.messages as AIMessage[];
      expect(seen.map(({ content }) => content)).toEqual(seen.map((_, i) => text(i)));
      expect(seen).toHaveLength(Number(values?.n));
    }
    config = await put;
    await foreign;
  }
  const all = await listAll(new RedisSaver(settings), { thread_id: "t", checkpoint_ns: "" });
  expect(all.map(({ checkpoint }) => (checkpoint.channel_values.messages as unknown[]).length)).toEqual(
    Array.from({ length: 39 }, (_, i) => 39 - i),
  );
});

it("stores nothing that the redactor covers, wherever it stands", async () => {
  const places: string[] = [];
  const cover = (text: string) => text.replaceAll("4111-1111", "[card]");
  const redactor: Redactor = {
    text: (text, place) => {
      places.push(place);
      return cover(text);
    },
    value: (value, place) => {
      places.push(place);
      const json = JSON.stringify((value as AIMessage).content);
      if (cover(json) === json) return value;
      const message = value as unknown as AIMessage;
      return new AIMessage({ ...message.lc_kwargs, content: JSON.parse(cover(json)) }) as typeof value;
    },
  };
  const saver = new RedisSaver(options({ redactor }));
  const secret = "the card 4111-1111 is planted";
  const config = await putValues(
    saver,
    { threadId: "t" },
    {
      messages: [new HumanMessage(secret), new AIMessage(secret)],
      notes: { a: [secret], m: new Map([["k", secret]]) },
    },
  );
  await saver.putWrites(
    config,
    [
      ["__error__", new Error(secret)],
      ["__pregel_tasks", { node: "n", args: { messages: [new AIMessage(secret)], secret } }],
    ],
    "task",
  );
  const tuple = await saver.getTuple(config);
  expect(JSON.stringify(tuple)).not.toContain("4111");
  expect(tuple?.pendingWrites?.[0]?.[2]).toMatchObject({ message: "the card [card] is planted" });
  expect(new Set(places)).toEqual(new Set(["input", "output", "error", "metadata"]));
  for (const key of await server.redis.keys(`*{t${tenant}/*`)) {
    expect(String(await server.redis.callBuffer("DUMP", key))).not.toContain("4111");
  }
});

it("encrypts all that is stored, reads old keys and writes with the newest", async () => {
  const keys = { old: Buffer.alloc(32, 1), next: Buffer.alloc(32, 2) };
  const settings = options({ codec: createAesCodec({ keys, current: "old" }) });
  const before = new RedisSaver(settings);
  const planted = "planted plain text ";
  const list = [new HumanMessage(planted.repeat(10)), new AIMessage(planted)];
  const config = await putValues(
    before,
    { threadId: "t" },
    { messages: list, planted, long: planted.repeat(500) },
  );
  const after = new RedisSaver({ ...settings, codec: createAesCodec({ keys, current: "next" }) });
  await after.putWrites(config, [["__error__", new Error(planted)]], "task");
  await putValues(after, { threadId: "t", parent: config }, { more: planted });
  const tuple = await new RedisSaver({
    ...settings,
    codec: createAesCodec({ keys, current: "next" }),
  }).getTuple(config);
  expect(tuple?.checkpoint.channel_values).toMatchObject({ planted, long: planted.repeat(500) });
  expect(tuple?.pendingWrites).toHaveLength(1);
  for (const key of await server.redis.keys(`*{t${tenant}/*`)) {
    expect(((await server.redis.callBuffer("DUMP", key)) as Buffer).includes("planted")).toBe(false);
  }
  const lost = new RedisSaver({
    ...settings,
    codec: createAesCodec({ keys: { next: keys.next }, current: "next" }),
  });
  await expect(lost.getTuple(config)).rejects.toMatchObject({ code: "INVALID_CONFIG" });
  const plain = await putValues(
    new RedisSaver({ ...settings, codec: undefined as never }),
    { threadId: "p" },
    { planted },
  );
  await expect(before.getTuple(plain)).rejects.toThrow("readPlain");
  const migrating = createAesCodec({ keys, current: "next", readPlain: true });
  expect(await valuesOf(new RedisSaver({ ...settings, codec: migrating }), plain)).toEqual({ planted });
  expect(() => createAesCodec({ keys, current: "none" })).toThrow("none");
  expect(() => createAesCodec({ keys: { short: Buffer.alloc(16) }, current: "short" })).toThrow("32");
});
