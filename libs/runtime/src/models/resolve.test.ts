import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { collect } from "../testing/collect.js";
import { type ProviderServer, startProviderServer } from "../testing/index.js";
import { resolveModel } from "./resolve.js";
import { tokensOf } from "./usage.js";

let server: ProviderServer;
beforeAll(async () => {
  server = await startProviderServer({ script: [] });
});
afterAll(() => server.close());

const add = tool(({ a, b }: { a: number; b: number }) => a + b, {
  name: "add",
  description: "Adds two numbers.",
  schema: z.object({ a: z.number(), b: z.number() }),
});

/** One model of each wire format. The responses API is what the OpenAI client uses for models like codex. */
const SPECS = ["openai:gpt-4o", "openai:gpt-5-codex", "anthropic:claude-sonnet-4-5"];
const API: Record<string, string> = {
  "openai:gpt-4o": "openai-chat",
  "openai:gpt-5-codex": "openai-responses",
  "anthropic:claude-sonnet-4-5": "anthropic-messages",
};

describe.each(SPECS)("%s over HTTP", (spec) => {
  it("answers, with usage", async () => {
    server.use([{ text: "Guten Tag, 世界", usage: { input: 100, output: 7, cached: 40, reasoning: 3 } }]);
    const model = await resolveModel(spec, { temperature: 0 }, server.env);
    const answer = await model.invoke([
      ["system", "Be brief."],
      ["human", "hello"],
    ]);
    expect(answer.text).toBe("Guten Tag, 世界");
    expect(answer.usage_metadata).toMatchObject({
      input_tokens: 100,
      output_tokens: 7,
      total_tokens: 107,
      input_token_details: { cache_read: 40 },
    });
    const request = server.requests.at(-1);
    expect(request?.api).toBe(API[spec]);
    expect(request?.model).toBe(spec.split(":")[1]);
    expect(request?.messages.map((message) => message.text)).toEqual(["Be brief.", "hello"]);
    expect(request?.closedByClient).toBe(false);
  });

  it.each([false, true])("asks for tools and takes their results (streamed: %s)", async (streamed) => {
    server.use([
      {
        toolCalls: [
          { name: "add", args: { a: 1, b: 2 } },
          { name: "add", args: { a: 3, b: 4 } },
        ],
      },
      { text: "3 and 7" },
    ]);
    const bare = await resolveModel(spec, {}, server.env);
    const model = bare.bindTools?.([add]) ?? bare;
    const ask = async (input: Parameters<typeof model.invoke>[0]) => {
      if (!streamed) return model.invoke(input);
      let whole: Awaited<ReturnType<typeof model.invoke>> | undefined;
      for await (const chunk of await model.stream(input)) whole = whole?.concat(chunk) ?? chunk;
      if (whole === undefined) throw new Error("nothing was streamed");
      return whole;
    };
    const first = await ask([["human", "add"]]);
    expect(first.tool_calls?.map((call) => call.args)).toEqual([
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ]);
    expect(server.requests.at(-1)?.tools).toEqual(["add"]);
    expect(server.requests.at(-1)?.stream).toBe(streamed);
    const results = (first.tool_calls ?? []).map((call, index) => ({
      role: "tool",
      tool_call_id: call.id ?? "",
      content: `result ${index}`,
    }));
    const second = await ask([["human", "add"], first, ...results]);
    expect(second.text).toBe("3 and 7");
    const toolTexts = server.requests.at(-1)?.messages.filter((message) => message.role === "tool");
    expect(toolTexts?.map((message) => message.text)).toEqual(["result 0", "result 1"]);
  });

  it("streams in chunks, with usage at the end", async () => {
    server.use([{ text: "one two three four five six", usage: { input: 12, output: 6 } }]);
    const model = await resolveModel(spec, {}, server.env);
    const texts: string[] = [];
    let tokens = 0;
    for await (const chunk of await model.stream("count")) {
      if (chunk.text) texts.push(chunk.text);
      tokens += tokensOf(chunk).outputTokens;
    }
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.join("")).toBe("one two three four five six");
    expect(tokens).toBe(6);
  });

  it("sends one request for one call, however it fails", async () => {
    server.use(() => ({ status: 500 }));
    const before = server.requests.length;
    const model = await resolveModel(spec, {}, server.env);
    await expect(model.invoke("hello")).rejects.toThrow();
    await expect(model.stream("hello").then(collect)).rejects.toThrow();
    expect(server.requests.length - before).toBe(2);
  });

  it("closes the request when the caller aborts", async () => {
    server.use([{ hang: true }]);
    const model = await resolveModel(spec, {}, server.env);
    const abort = new AbortController();
    const seen = server.requests.length + 1;
    const answer = model.invoke("hello", { signal: abort.signal });
    await server.received(seen);
    abort.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => server.requests.at(-1)?.closedByClient).toBe(true);
  });
});

describe("what a spec may be", () => {
  it("takes a base URL as an option, before the environment's, and a key under another name", async () => {
    server.use([{ text: "from vLLM" }]);
    const env = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", VLLM_KEY: " own-key\n" };
    const options = { baseUrl: `${server.url}/v1`, apiKeyEnv: "VLLM_KEY" };
    const model = await resolveModel("openai:meta/llama3.1:8b", options, env);
    expect((await model.invoke("hello")).text).toBe("from vLLM");
    expect(server.requests.at(-1)?.model).toBe("meta/llama3.1:8b");
    expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer own-key");
  });

  it("sends the options", async () => {
    server.use(() => ({ text: "ok" }));
    const options = { temperature: 0.5, topP: 0.9, maxTokens: 50, stopSequences: ["END"] };
    const openai = await resolveModel("openai:gpt-4o", { ...options, params: { user: "u1" } }, server.env);
    await openai.invoke("hello");
    expect(server.requests.at(-1)?.body).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 50,
      stop: ["END"],
      user: "u1",
    });
    const anthropic = await resolveModel("anthropic:claude-sonnet-4-5", options, server.env);
    await anthropic.invoke("hello");
    expect(server.requests.at(-1)?.body).toMatchObject({ max_tokens: 50, stop_sequences: ["END"] });
  });

  it.each([
    ["gpt-4o", "openai"],
    ["claude-sonnet-4-5", "anthropic"],
  ])("takes the name alone where it tells whose model it is: %s", async (name, llmType) => {
    const model = await resolveModel(name, {}, server.env);
    expect(model._llmType()).toContain(llmType);
  });

  it("refuses a name that does not tell whose model it is", async () => {
    await expect(resolveModel("our-model", {}, server.env)).rejects.toThrow(
      'Model "our-model" names no provider, and its name does not tell whose it is; write provider:model',
    );
  });

  it("lets no caller swap the model through the run's configuration", async () => {
    server.use([{ text: "ok" }]);
    const model = await resolveModel("openai:gpt-4o", {}, server.env);
    await model.invoke("hello", { configurable: { model: "gpt-expensive", modelProvider: "anthropic" } });
    expect(server.requests.at(-1)).toMatchObject({ model: "gpt-4o", api: "openai-chat" });
  });

  it("gives a model instance back, and hands offline names to the offline models", async () => {
    const own = new ChatOpenAI({ model: "gpt-4o", apiKey: "x" });
    expect(await resolveModel(own, {}, {})).toBe(own);
    expect(
      await resolveModel("offline:receipts", {}, {}, (name) => (name === "receipts" ? own : fail(name))),
    ).toBe(own);
  });
});

function fail(name: string): never {
  throw new Error(`asked for ${name}`);
}
