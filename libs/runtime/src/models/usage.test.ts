import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, type StandardMessageStructure } from "@langchain/core/messages";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collect } from "../testing/collect.js";
import { type ProviderServer, startProviderServer } from "../testing/index.js";
import { costOf, loadPrices, type Prices } from "./prices.js";
import { resolveModel } from "./resolve.js";
import { modelName, type Tokens, tokensOf, usageOfCall } from "./usage.js";

const prices: Prices = {
  asOf: "2025-01-01",
  models: {
    "openai:gpt-4o": { input: 2, cachedInput: 1, output: 10 },
    "anthropic:claude-sonnet-4-5": { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 },
    "openai:o3": { input: 2, output: 8 },
  },
};

function tokens(given: Partial<Tokens>): Tokens {
  const none = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return { ...none, ...given };
}

describe("tokens over HTTP", () => {
  let server: ProviderServer;
  beforeAll(async () => {
    server = await startProviderServer({ script: [] });
  });
  afterAll(() => server.close());

  it.each([
    ["openai:gpt-4o", 3],
    ["openai:gpt-5-codex", 3],
    ["anthropic:claude-sonnet-4-5", 0],
  ])("counts the same for %s, streamed or not", async (spec, reasoningTokens) => {
    const usage = { input: 1000, output: 50, cached: 600, reasoning: 3 };
    server.use(() => ({ text: "a b c d e f", usage }));
    const model = await resolveModel(spec, {}, server.env);
    const counted = {
      inputTokens: 1000,
      outputTokens: 50,
      cachedTokens: 600,
      cacheWriteTokens: 0,
      reasoningTokens,
    };
    expect(tokensOf(await model.invoke("x"))).toEqual(counted);
    const chunks = await collect(await model.stream("x"));
    const [first, ...rest] = chunks;
    const whole = rest.reduce((sum, chunk) => sum?.concat(chunk), first);
    expect(whole && tokensOf(whole)).toEqual(counted);
    expect(modelName(model)).toBe(spec);
  });
});

describe("costOf", () => {
  it("prices fresh, cached and cache-writing input apart, and reasoning as output", () => {
    const given = tokens({
      inputTokens: 1000,
      cachedTokens: 600,
      cacheWriteTokens: 100,
      outputTokens: 50,
      reasoningTokens: 30,
    });
    expect(costOf("anthropic:claude-sonnet-4-5", given, prices)).toBeCloseTo(
      (300 * 3 + 600 * 0.3 + 100 * 3.75 + 50 * 15) / 1e6,
      12,
    );
    expect(costOf("openai:o3", given, prices)).toBeCloseTo((1000 * 2 + 50 * 8) / 1e6, 12);
  });

  it("takes dated names for the undated ones and nothing else", () => {
    const million = tokens({ inputTokens: 1_000_000 });
    expect(costOf("openai:gpt-4o-2024-08-06", million, prices)).toBe(2);
    expect(costOf("anthropic:claude-sonnet-4-5-20250929", million, prices)).toBe(3);
    expect(costOf("openai:gpt-4o-mini", million, prices)).toBeNull();
    expect(costOf("groq:gpt-4o", million, prices)).toBeNull();
    expect(costOf("openai:constructor", million, prices)).toBeNull();
    expect(costOf("offline:receipts", million, prices)).toBe(0);
  });
});

describe("usageOfCall", () => {
  const counted = new AIMessage<StandardMessageStructure>({
    content: "x",
    usage_metadata: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 },
  });

  it("counts one call with its cost in millionths of a dollar", () => {
    expect(usageOfCall(counted, "openai:gpt-4o", prices)).toMatchObject({
      modelCalls: 1,
      toolCalls: 0,
      inputTokens: 1000,
      outputTokens: 100,
      costMicros: 3000,
      unpricedCalls: 0,
    });
  });

  it("says that a call has no price, for want of a price or of counts", () => {
    expect(usageOfCall(counted, "openai:llama3", prices)).toMatchObject({ costMicros: 0, unpricedCalls: 1 });
    expect(usageOfCall(new AIMessage("x"), "openai:gpt-4o", prices)).toMatchObject({ unpricedCalls: 1 });
  });
});

describe("loadPrices", () => {
  const file = (content: string) => {
    const path = join(mkdtempSync(join(tmpdir(), "drover-prices-")), "prices.json");
    writeFileSync(path, content);
    return path;
  };

  it("reads Drover's own list, and another in its place", () => {
    expect(loadPrices().models["openai:gpt-4o"]?.output).toBeGreaterThan(0);
    expect(loadPrices(file(JSON.stringify(prices)))).toEqual(prices);
  });

  it.each([
    ["a file that is not there", "/nowhere/prices.json", /not there/],
    ["no JSON", file("{"), /not JSON/],
    [
      "a price below 0",
      file('{"asOf":"2025-01-01","models":{"openai:x":{"input":-1,"output":1}}}'),
      /models\.openai:x\.input/,
    ],
    ["a key that it does not know", file('{"asOf":"2025-01-01","models":{"openai:x":{"in":1}}}'), /"in"/],
    [
      "a model without its provider",
      file('{"asOf":"2025-01-01","models":{"x":{"input":1,"output":1}}}'),
      /provider:model/,
    ],
  ])("refuses %s", (_what, path, message) => {
    expect(() => loadPrices(path)).toThrow(expect.objectContaining({ code: "INVALID_CONFIG" }));
    expect(() => loadPrices(path)).toThrow(message);
  });
});
