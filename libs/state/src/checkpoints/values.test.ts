import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { createKeys } from "../keys.js";
import { RedisSaver } from "./redis-saver.js";
import { putValues, valuesOf } from "./testing/puts.js";
import { startTestRedis } from "./testing/redis-servers.js";

const server = await startTestRedis();
afterAll(() => server.stop());
const open = () => new RedisSaver({ redis: server.redis, keys: createKeys(), tenant: "acme" });
let threads = 0;

async function roundTrip(value: unknown): Promise<unknown> {
  threads += 1;
  const config = await putValues(open(), { threadId: `t${threads}` }, { value });
  return (await valuesOf(open(), config))?.value;
}

const error = Object.assign(new RangeError("out of range"), { name: "RangeError" });
const typed: Record<string, unknown> = {
  map: new Map<unknown, unknown>([["a", { b: new Set([1, new Date(5)]) }]]),
  set: new Set(["x", null]),
  bytes: new Uint8Array([0, 255, 3]),
  floats: new Float32Array([1.5, -2]),
  date: new Date("2026-01-02T03:04:05.678Z"),
  pattern: /a+\/"b/gi,
  bigint: 2n ** 80n,
  numbers: [0, -0, -1.5, 1e300, Number.NaN, Number.POSITIVE_INFINITY],
  none: { here: undefined, nothing: null, list: [undefined, 1] },
  snapshot: new DeltaSnapshot(["x"]),
  $: { $: "b", v: 7 },
  "looks like a mark": [
    { $: "l", v: [0, 3] },
    { $: "o", v: { $: "m", t: "AIMessage", k: {} } },
  ],
  "looks like LangChain": {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "HumanMessage"],
    kwargs: {},
  },
  long: "ü".repeat(5000),
  "long and deep": { a: { b: { c: "x".repeat(300), d: ["y".repeat(300), "z"] } } },
};

it.each(Object.entries(typed))("keeps what %s is", async (_, value) => {
  expect(await roundTrip(value)).toStrictEqual(value);
  expect(await roundTrip({ inside: [value, new Map([[1, value]])] })).toStrictEqual({
    inside: [value, new Map([[1, value]])],
  });
});

it("keeps errors with their names, and other LangChain objects", async () => {
  const loaded = (await roundTrip(error)) as Error;
  expect(loaded).toBeInstanceOf(Error);
  expect([loaded.name, loaded.message]).toEqual(["RangeError", "out of range"]);
  const prompt = ChatPromptTemplate.fromMessages([["human", "Say {what}"]]);
  const both = (await roundTrip({ prompt, again: [prompt] })) as {
    prompt: ChatPromptTemplate;
    again: unknown[];
  };
  expect(both.prompt).toBeInstanceOf(ChatPromptTemplate);
  expect(both.again[0]).toBeInstanceOf(ChatPromptTemplate);
  const document = new Document({ pageContent: "x", metadata: { a: 1 } });
  expect(await roundTrip(document)).toMatchObject({ pageContent: "x", metadata: { a: 1 } });
});

it("keeps messages of all classes", async () => {
  const usage_metadata = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
  const messages = [
    new HumanMessage({ content: [{ type: "text", text: "hi" }], name: "me", id: "1" }),
    Object.assign(
      new AIMessage({
        content: "x",
        tool_calls: [{ name: "t", args: { snake_case: 1, camelCase: 2 }, id: "c" }],
      }),
    ),
    new AIMessage({
      content: "",
      usage_metadata,
      response_metadata: { modelName: "m" },
      additional_kwargs: { someKey: 1 },
    } as never),
    new AIMessageChunk({ content: "chunk", tool_call_chunks: [{ name: "t", args: "{", index: 0 }] }),
    new ToolMessage({
      content: "r",
      tool_call_id: "c",
      status: "error",
      artifact: { bytes: new Uint8Array([1]) },
    }),
    new SystemMessage("s"),
    new ChatMessage({ content: "c", role: "critic" }),
    new RemoveMessage({ id: "1" }),
    new AIMessage({ contentBlocks: [{ type: "text", text: "v1" }] } as never),
  ];
  const loaded = (await roundTrip({ one: messages[1], all: messages })) as {
    one: AIMessage;
    all: AIMessage[];
  };
  expect(loaded.all.map((message) => message.constructor.name)).toEqual(
    messages.map((m) => m.constructor.name),
  );
  const dicts = (all: { toDict(): unknown }[]) => all.slice(0, -1).map((message) => message.toDict());
  expect(dicts(loaded.all)).toEqual(dicts(messages));
  expect(loaded.all.at(-1)?.content).toEqual(messages.at(-1)?.content);
  expect(loaded.all[2]?.usage_metadata).toEqual(usage_metadata);
  expect(loaded.one.tool_calls).toEqual((messages[1] as AIMessage).tool_calls);
});

it("gives each load objects of its own", async () => {
  const config = await putValues(
    open(),
    { threadId: "own" },
    { messages: [new HumanMessage("a"), new HumanMessage("b")] },
  );
  const saver = open();
  const load = async () => (await valuesOf(saver, config))?.messages as [HumanMessage];
  (await load())[0].content = "changed";
  expect((await load())[0].content).toBe("a");
});

const seed = Date.now() % 2 ** 31;
it(`keeps any value (seed ${seed})`, async () => {
  const anything = fc.anything({
    withMap: true,
    withSet: true,
    withDate: true,
    withBigInt: true,
    withTypedArray: false,
  });
  await fc.assert(
    fc.asyncProperty(anything, async (value) => {
      expect(await roundTrip(value)).toEqual(value);
    }),
    { seed, numRuns: 300 },
  );
});
