import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Send } from "@langchain/langgraph";
import { uuid6 } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createKeys } from "../keys.js";
import { RedisSaver, type RedisSaverOptions } from "./redis-saver.js";
import { listAll, putValues, valuesOf } from "./testing/puts.js";
import { startTestCluster, startTestRedis } from "./testing/redis-servers.js";

const single = await startTestRedis();
const { cluster, stop } = await startTestCluster();
afterAll(async () => {
  await single.stop();
  await stop();
});

const message = (i: number) => new AIMessage({ content: `message ${i} ${"x".repeat(i % 50)}`, id: `m${i}` });
const messages = (count: number) => Array.from({ length: count }, (_, i) => message(i));
const contents = (values: Record<string, unknown> | undefined) =>
  (values?.messages as AIMessage[] | undefined)?.map(({ content }) => content);

describe.each([
  ["single", single.redis],
  ["cluster", cluster],
])("threads on %s", (_, redis) => {
  let tenants = 0;
  let tenant = "";
  beforeEach(() => {
    tenants += 1;
    tenant = `tenant:${tenants}`;
  });
  const open = (options: Partial<RedisSaverOptions> = {}) =>
    new RedisSaver({ redis, keys: createKeys(), tenant, ...options });

  it("deletes a thread in all its namespaces, and none whose name begins with the same", async () => {
    const ids = ["org1", "org1:userA", "org1:cp", "org1/x", "org1}", "{org1}", "org1*", "org"];
    for (const threadId of ids) {
      const saver = open();
      const root = await putValues(saver, { threadId }, { messages: [new HumanMessage(threadId)] });
      await putValues(
        saver,
        { threadId, namespace: "child:1|sub" },
        { messages: [new HumanMessage(threadId)] },
      );
      await saver.putWrites(root, [["messages", new AIMessage("w")]], "task");
    }
    await open().deleteThread("org1");
    expect(await listAll(open(), { thread_id: "org1" })).toEqual([]);
    for (const thread_id of ids.slice(1)) {
      expect(contents(await valuesOf(open(), { configurable: { thread_id } }))).toEqual([thread_id]);
      expect(await listAll(open(), { thread_id })).toHaveLength(2);
    }
    const all = await listAll(open(), {});
    expect(new Set(all.map(({ config }) => config.configurable?.thread_id))).toEqual(new Set(ids.slice(1)));
    expect(await listAll(open(), {}, { limit: 3 })).toHaveLength(3);
  });

  it("keeps tenants, namespaces and channels with awkward names apart", async () => {
    const names = ["", "a", "a:b", "a|b", "a%3Ab", "A", "é", "__proto__", "constructor", "h:a", "{x}"];
    for (const namespace of names) {
      const values = Object.fromEntries(names.map((name) => [`c${name}`, `${namespace}/${name}`]));
      await putValues(open(), { threadId: "t", namespace }, values);
    }
    for (const checkpoint_ns of names) {
      const values = await valuesOf(open(), { configurable: { thread_id: "t", checkpoint_ns } });
      expect(values).toEqual(
        Object.fromEntries(names.map((name) => [`c${name}`, `${checkpoint_ns}/${name}`])),
      );
    }
    expect(await listAll(open({ tenant: `${tenant}x` }), {})).toEqual([]);
    expect(await listAll(open(), { thread_id: "t" })).toHaveLength(names.length);
  });

  it("takes what was stored last for the newest, whatever clocks say", async () => {
    const late = uuid6(1);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const first = await putValues(open(), { threadId: "t", id: uuid6(2) }, { messages: [message(1)] });
    await putValues(
      open(),
      { threadId: "t", id: late, parent: first },
      { messages: [message(1), message(2)] },
    );
    const head = await open().getTuple({ configurable: { thread_id: "t" } });
    expect(head?.checkpoint.id).toBe(late);
    expect((await listAll(open(), { thread_id: "t" })).map(({ checkpoint }) => checkpoint.id)[0]).toBe(late);
  });

  it("keeps branches apart that count on from one checkpoint", async () => {
    const saver = open();
    const root = await putValues(saver, { threadId: "t" }, { messages: messages(20), other: "x" });
    const left = await putValues(
      saver,
      { threadId: "t", parent: root },
      { messages: [...messages(20), message(100)] },
    );
    const right = await putValues(
      open(),
      { threadId: "t", parent: root },
      { messages: [...messages(19), message(200)] },
    );
    const deep = await putValues(saver, { threadId: "t", parent: left }, { other: "left" });
    expect(contents(await valuesOf(open(), deep))?.at(-1)).toMatch(/^message 100/);
    expect(contents(await valuesOf(open(), right))?.at(-1)).toMatch(/^message 200/);
    expect((await valuesOf(open(), right))?.other).toBe("x");
    expect(contents(await valuesOf(open(), root))).toHaveLength(20);
  });

  it("resolves a channel by its version where the parent has another one", async () => {
    const saver = open();
    const first = await putValues(saver, { threadId: "t" }, { a: "one", b: "old" });
    const second = await putValues(saver, { threadId: "t", parent: first }, { a: "two" });
    for (let i = 0; i < 80; i += 1) await putValues(saver, { threadId: "t", parent: first }, { c: i });
    const copied = await open().get(second);
    if (copied === undefined) throw new Error("The checkpoint is not there.");
    // As updateState's fork does: the grandparent as parent, and no new versions.
    const fork = await open().put(
      first,
      { ...copied, id: uuid6(3) },
      { source: "fork", step: 3, parents: {} },
      {},
    );
    expect(await valuesOf(open(), fork)).toEqual({ a: "two", b: "old" });
  });

  it("returns writes by task path, task and index, the first of each, special ones overwritten", async () => {
    const saver = open();
    const config = await putValues(saver, { threadId: "t" }, { a: 1 });
    await saver.putWrites(
      config,
      [
        ["a", "b0"],
        ["b", "b1"],
      ],
      "task-b",
      "~__pregel_pull, b",
    );
    await saver.putWrites(config, [["a", "a0"]], "task-a", "~__pregel_push, 2");
    await saver.putWrites(config, [["a", "z0"]], "task-z", "");
    await saver.putWrites(config, [["a", "again"]], "task-b", "~__pregel_pull, b");
    await saver.putWrites(config, [["__error__", "first"]], "task-z");
    await saver.putWrites(config, [["__error__", "second"]], "task-z");
    await saver.putWrites(config, [["a", "astral"]], "task-c", "\u{1F600}");
    await saver.putWrites(config, [["a", "private"]], "task-d", "\uE000");
    const { pendingWrites } = (await open().getTuple(config)) ?? {};
    expect(pendingWrites).toEqual([
      ["task-z", "__error__", "second"],
      ["task-z", "a", "z0"],
      ["task-b", "a", "b0"],
      ["task-b", "b", "b1"],
      ["task-a", "a", "a0"],
      ["task-d", "a", "private"],
      ["task-c", "a", "astral"],
    ]);
  });

  it("finds writes that were stored before their checkpoint, and those of a checkpoint that was stored twice", async () => {
    const id = uuid6(1);
    const config = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: id } };
    await open().putWrites(config, [["a", "early"]], "task-a");
    expect(await open().getTuple(config)).toBeUndefined();
    await putValues(open(), { threadId: "t", id }, { a: 1 });
    await open().putWrites(config, [["a", "late"]], "task-b");
    await putValues(open(), { threadId: "t", id }, { a: 2 });
    const tuple = await open().getTuple(config);
    expect(tuple?.pendingWrites?.map(([, , value]) => value)).toEqual(["early", "late"]);
    expect(tuple?.checkpoint.channel_values).toEqual({ a: 2 });
    expect(await listAll(open(), { thread_id: "t" })).toHaveLength(1);
    await open().deleteThread("t");
    expect(await redis.exists(`${createKeys().thread(tenant, "t").base}:cp`)).toBe(0);
  });

  it("stores a message once, in lists, Sends and writes, whoever made the object", async () => {
    const saver = open();
    const body = "planted ".repeat(40);
    const make = () => new ToolMessage({ content: body, tool_call_id: "c", id: "m" });
    const list = [...messages(30), make()];
    const root = await putValues(
      saver,
      { threadId: "t" },
      { messages: list, __pregel_tasks: [new Send("n", { messages: list })] },
    );
    await saver.putWrites(
      root,
      [
        ["__pregel_tasks", new Send("n", { messages: list, one: make() })],
        ["messages", make()],
      ],
      "k",
    );
    await putValues(open(), { threadId: "t", parent: root }, { messages: [...list.slice(5), make()] });
    const { base } = createKeys().thread(tenant, "t");
    const stored = [
      ...(await redis.lrange(`${base}:cp:b`, 0, -1)),
      ...(await redis.lrange(`${base}:cp:l:`, 0, -1)),
    ].join("\n");
    expect(stored.split(body)).toHaveLength(2);
  });

  it("copies a thread, and refuses to copy over one", async () => {
    const saver = open();
    const root = await putValues(saver, { threadId: "a" }, { messages: messages(40) });
    await putValues(saver, { threadId: "a", namespace: "child" }, { messages: messages(3) });
    await saver.putWrites(root, [["messages", message(7)]], "task");
    await saver.copyThread("a", "b");
    await putValues(saver, { threadId: "a", parent: root }, { messages: [message(1)] });
    const copy = await listAll(open(), { thread_id: "b" });
    expect(copy).toHaveLength(2);
    const copied = await open().getTuple({ configurable: { thread_id: "b" } });
    expect(contents(copied?.checkpoint.channel_values)).toHaveLength(40);
    expect(copied?.pendingWrites).toHaveLength(1);
    await putValues(saver, { threadId: "b", parent: copied?.config ?? {} }, { messages: messages(41) });
    expect(contents(await valuesOf(open(), { configurable: { thread_id: "b" } }))).toHaveLength(41);
    await expect(saver.copyThread("a", "b")).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(saver.copyThread("none", "c")).rejects.toMatchObject({ code: "UNKNOWN_THREAD" });
  });

  it("prunes the history, keeps the newest state and goes on from it", async () => {
    const saver = open();
    let config = await putValues(
      saver,
      { threadId: "t" },
      { messages: messages(100), chunks: Array.from({ length: 100 }, (_, i) => `chunk ${i}`) },
    );
    for (let i = 0; i < 40; i += 1) {
      config = await putValues(
        saver,
        { threadId: "t", parent: config },
        { messages: [message(500 + i), ...messages(60)] },
      );
    }
    await putValues(saver, { threadId: "t", namespace: "child" }, { messages: messages(3) });
    await saver.putWrites(
      config,
      [["__pregel_tasks", new Send("n", { messages: messages(60) })]],
      "task",
      "path",
    );
    const before = await open().getTuple({ configurable: { thread_id: "t" } });
    await saver.prune("t");
    const after = await open().getTuple({ configurable: { thread_id: "t" } });
    expect(after).toEqual(before);
    expect(await listAll(open(), { thread_id: "t", checkpoint_ns: "" })).toHaveLength(1);
    expect(await listAll(open(), { thread_id: "t", checkpoint_ns: "child" })).toHaveLength(1);
    expect(await redis.llen(`${createKeys().thread(tenant, "t").base}:cp:b`)).toBeLessThan(70);
    await putValues(saver, { threadId: "t", parent: config }, { messages: messages(61) });
    expect(contents(await valuesOf(open(), { configurable: { thread_id: "t" } }))).toHaveLength(61);
    await saver.prune("nothing here");
  });

  it("gives all keys of a thread one time to expire, anew with each write", async () => {
    const saver = open({ retentionSeconds: 100 });
    const root = await putValues(saver, { threadId: "t" }, { messages: messages(50) });
    await putValues(saver, { threadId: "t", namespace: "child" }, { messages: messages(5) });
    const { base } = createKeys().thread(tenant, "t");
    const all = [`${base}:cp`, `${base}:cp:b`, `${base}:cp:l:`, `${base}:cp:l:child`];
    for (const key of all) await redis.persist(key);
    await saver.putWrites(root, [["messages", message(1)]], "task");
    const lives = await Promise.all(all.map((key) => redis.pttl(key)));
    expect(Math.min(...lives)).toBeGreaterThan(95_000);
    expect(Math.max(...lives) - Math.min(...lives)).toBeLessThan(50);
    const index = createKeys().index(`checkpoint-threads:${encodeURIComponent(tenant)}`);
    expect(await redis.ttl(index)).toBeGreaterThan(95);
  });

  it("pages through history without loading what it does not need", async () => {
    const saver = open();
    let config = await putValues(saver, { threadId: "t" }, { messages: messages(10) });
    const ids = [config.configurable?.checkpoint_id];
    for (let i = 11; i < 290; i += 1) {
      config = await putValues(saver, { threadId: "t", parent: config }, { messages: messages(i), i });
      ids.push(config.configurable?.checkpoint_id);
    }
    const page = await listAll(open(), { thread_id: "t", checkpoint_ns: "" }, { limit: 3, before: config });
    expect(page.map(({ checkpoint }) => checkpoint.id)).toEqual(ids.slice(-4, -1).reverse());
    expect(page.map(({ checkpoint }) => contents(checkpoint.channel_values)?.length)).toEqual([
      288, 287, 286,
    ]);
    const old = { configurable: { thread_id: "t", checkpoint_id: ids[100] } };
    expect(contents(await valuesOf(open(), old))).toHaveLength(110);
  });
});
