import { describe, expect } from "vitest";
import { proofs, type Stage, textOf } from "../../testing/features/stage.js";

const { proves } = proofs();
const sent = (stage: Stage, i = 0) => textOf(stage.requests().at(i));
const fine = [{ text: "fine" }];

describe("piiMiddleware", () => {
  for (const [type, text, hidden] of [
    ["email", "mail ann@example.com", "[REDACTED_EMAIL]"],
    ["ip", "from 192.168.10.7", "[REDACTED_IP]"],
    ["mac_address", "card 00:1A:2B:3C:4D:5E", "[REDACTED_MAC_ADDRESS]"],
    ["url", "see https://example.com/a", "[REDACTED_URL]"],
  ] as const) {
    proves(`piiType: ${type}, strategy: redact, applyToInput`, async (stage) => {
      const run = await stage.run(`pii_${type}`, { script: fine, input: text });
      expect(run.status).toBe("success");
      expect(sent(stage)).toContain(hidden);
      expect(sent(stage)).not.toContain(text.split(" ")[1]);
    });
  }
  proves("piiType: credit_card, strategy: mask", async (stage) => {
    await stage.run("pii_credit_card", { script: fine, input: "card 4111 1111 1111 1111" });
    expect(sent(stage)).toMatch(/\*[*\s-]*1111/);
    expect(sent(stage)).not.toContain("4111");
  });
  proves("strategy: hash", async (stage) => {
    await stage.run("pii_hash", { script: fine, input: "ann@example.com" });
    await stage.run("pii_hash", { script: fine, input: "ann@example.com" });
    const [first, second] = stage
      .requests()
      .map((request) => /<email_hash:[0-9a-f]+>/.exec(textOf(request))?.[0]);
    expect(first).toBeDefined();
    expect(second).toBe(first);
  });
  proves("strategy: block", async (stage) => {
    const run = await stage.run("pii_block", { script: fine, input: "ann@example.com" });
    expect(run).toMatchObject({ status: "error", error: { code: "PII_BLOCKED" } });
    expect(stage.requests()).toEqual([]);
    // The text is stored nowhere, so the thread goes on.
    const ask = (input: string) => stage.run("pii_block", { script: fine, input, thread: "t" });
    expect((await ask("ann@example.com")).status).toBe("error");
    expect((await ask("Hello")).status).toBe("success");
    expect(sent(stage)).not.toContain("ann@");
  });
  proves("everywhere: a value in two pieces of a stream", async (stage) => {
    const script = [{ text: "Ask ann@example.com or nobody" }];
    const run = await stage.run("pii_everywhere", { script, streamMode: ["messages"] });
    const events = await stage.events(run);
    const told = events
      .filter((event) => (event as { type: string }).type === "messages")
      .map((event) => (event as { text: string }).text)
      .join("");
    expect(told).toBe("Ask [REDACTED_EMAIL] or nobody");
  });
  proves("everywhere: signed thinking", async (stage) => {
    const thinking = { text: "It is ann@example.com", signature: "c2lnbmVk" };
    const ask = () => stage.run("pii_thinking", { script: [{ thinking, text: "fine" }], thread: "t" });
    expect((await ask()).output).toBe("fine");
    expect((await ask()).output).toBe("fine");
    const again = sent(stage, 1);
    expect(again).toContain("fine");
    expect(again).not.toMatch(/ann@|c2lnbmVk|REDACTED/);
  });
  proves("everywhere: answers keep their ids, usage and status", async (stage) => {
    const call = { toolCalls: [{ id: "call_7", name: "search", args: { text: "ann@example.com" } }] };
    const run = await stage.run("pii_everywhere", { script: [{ ...call, usage: { input: 70 } }, ...fine] });
    expect(run.usage.inputTokens).toBe(80);
    expect(sent(stage, 1)).toContain("call_7");
    expect(sent(stage, 1)).not.toContain("ann@");
  });
  proves("applyToOutput", async (stage) => {
    const run = await stage.run("pii_output", { script: [{ text: "ask ann@example.com" }] });
    expect(run.output).toBe("ask [REDACTED_EMAIL]");
  });
  proves("applyToToolResults", async (stage) => {
    const call = { toolCalls: [{ name: "search", args: { text: "ann@example.com" } }] };
    await stage.run("pii_tool_results", { script: [call, ...fine] });
    const told = stage
      .requests()
      .at(-1)
      ?.messages.find(({ role }) => role === "tool");
    expect(told?.text).toBe("[REDACTED_EMAIL]");
  });
  for (const [how, agent, text, hidden] of [
    ["a pattern", "pii_pattern", "key sk-abcd1234", "[REDACTED_API_KEY]"],
    ["a RegExp", "pii_regexp", "code AB42", "[REDACTED_CODE]"],
    ["a function", "pii_function", "a secret", "[REDACTED_WORD]"],
  ] as const) {
    proves(`detector: ${how}`, async (stage) => {
      expect(await stage.run(agent, { script: fine, input: text })).toMatchObject({ error: null });
      expect(sent(stage)).toContain(hidden);
    });
  }
});

describe.each([
  ["anthropicPromptCachingMiddleware", "caching", "PromptCachingMiddleware"],
  ["bedrockPromptCachingMiddleware", "bedrock", "BedrockPromptCachingMiddleware"],
])("%s", (_, agent, warns) => {
  const warning = `\n${warns}: Skipping caching for ChatOpenAI`;

  proves("enableCaching: true", async (stage) => {
    await stage.run(`${agent}_on`, { script: fine });
    expect(sent(stage)).toContain("cache_control");
  });
  proves("enableCaching: false", async (stage) => {
    await stage.run(`${agent}_off`, { script: fine });
    expect(stage.requests()).toHaveLength(1);
    expect(sent(stage)).not.toContain("cache_control");
  });
  proves("ttl: 1h", async (stage) => {
    await stage.run(`${agent}_hour`, { script: fine });
    expect(sent(stage)).toContain('"ttl":"1h"');
  });
  proves("ttl: 5m", async (stage) => {
    await stage.run(`${agent}_on`, { script: fine });
    expect(sent(stage)).toContain('"ttl":"5m"');
  });
  proves("minMessagesToCache", async (stage) => {
    await stage.run(`${agent}_later`, { script: fine, thread: "t" });
    await stage.run(`${agent}_later`, { script: fine, thread: "t" });
    expect(sent(stage)).not.toContain("cache_control");
    expect(sent(stage, 1)).toContain("cache_control");
  });
  proves("unsupportedModelBehavior: raise", async (stage) => {
    expect(await stage.run(`${agent}_raise`, { script: fine })).toMatchObject({
      status: "error",
      error: { code: "AGENT_ERROR", message: expect.stringMatching(/Prompt caching requires an/) },
    });
  });
  proves("unsupportedModelBehavior: warn", async (stage) => {
    expect((await stage.run(`${agent}_warn`, { script: fine })).output).toBe("fine");
    expect(sent(stage)).not.toContain("cache_control");
    expect(`\n${stage.warnings()}`).toContain(warning);
  });
  proves("unsupportedModelBehavior: ignore", async (stage) => {
    expect((await stage.run(`${agent}_ignore`, { script: fine })).output).toBe("fine");
    expect(`\n${stage.warnings()}`).not.toContain(warning);
  });
});

describe("openAIModerationMiddleware", () => {
  const bad = { script: fine, input: "a bad word" };

  proves("exitBehavior: end", async (stage) => {
    expect((await stage.run("moderation_end", bad)).output).toBe("No: hate");
    expect(stage.requests()).toEqual([]);
  });
  proves("exitBehavior: error", async (stage) => {
    const run = await stage.run("moderation_error", bad);
    expect(run).toMatchObject({ status: "error", error: { code: "AGENT_ERROR" } });
  });
  proves("exitBehavior: replace", async (stage) => {
    await stage.run("moderation_replace", bad);
    expect(sent(stage)).toContain("[removed]");
    expect(sent(stage)).not.toContain("bad");
  });
  proves("checkOutput", async (stage) => {
    const run = await stage.run("moderation_output", { script: [{ text: "a bad answer" }] });
    expect(run.output).toBe("No: hate");
  });
  proves("checkToolResults", async (stage) => {
    const call = { toolCalls: [{ name: "search", args: { text: "a bad result" } }] };
    expect((await stage.run("moderation_tools", { script: [call, ...fine] })).output).toBe("No: hate");
  });
  for (const [model, agent] of [
    ["omni-moderation-latest", "omni_moderation_latest"],
    ["omni-moderation-2024-09-26", "omni_moderation_2024"],
    ["text-moderation-latest", "text_moderation_latest"],
    ["text-moderation-stable", "text_moderation_stable"],
  ] as const) {
    proves(`moderationModel: ${model}`, async (stage) => {
      await stage.run(agent, { script: fine });
      expect(new Set(stage.moderations())).toEqual(new Set([model]));
    });
  }
});

describe("providerToolSearchMiddleware", () => {
  proves("searchableTools", async (stage) => {
    await stage.run("tool_search", { script: fine });
    const tools = stage.requests()[0]?.body.tools as { name: string; defer_loading?: boolean }[];
    expect(tools.filter((tool) => tool.defer_loading).map(({ name }) => name)).toEqual(["pay"]);
    expect(tools.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^tool_search/));
  });
});
