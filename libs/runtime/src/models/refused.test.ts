import { ChatOpenAI } from "@langchain/openai";
import { describe, expect, it } from "vitest";
import type { ModelOptions } from "./options.js";
import { resolveModel } from "./resolve.js";

describe("what is refused when an agent is loaded", () => {
  it.each([
    ["a missing key", "openai:gpt-4o", {}, {}, "MISSING_API_KEY", /Set OPENAI_API_KEY .*"openai:gpt-4o"/],
    [
      "an empty key",
      "anthropic:claude-sonnet-4-5",
      {},
      { ANTHROPIC_API_KEY: " " },
      "MISSING_API_KEY",
      /Set ANTHROPIC_API_KEY /,
    ],
    [
      "a missing key of another name",
      "openai:x",
      { apiKeyEnv: "VLLM_KEY" },
      { OPENAI_API_KEY: "k" },
      "MISSING_API_KEY",
      /Set VLLM_KEY /,
    ],
    [
      "a key with a line break in it",
      "openai:x",
      {},
      { OPENAI_API_KEY: "sk-a\nsk-b" },
      "MISSING_API_KEY",
      /OPENAI_API_KEY holds .*line break/,
    ],
    ["a missing key of another provider", "groq:llama", {}, {}, "MISSING_API_KEY", /Set GROQ_API_KEY /],
    [
      "an unknown provider",
      "opnai:gpt-4o",
      {},
      {},
      "UNKNOWN_MODEL_PROVIDER",
      /"opnai" .*These work: openai, anthropic, offline\..*baseUrl/,
    ],
    [
      "a provider without its package",
      "groq:llama",
      {},
      { GROQ_API_KEY: "k" },
      "UNKNOWN_MODEL_PROVIDER",
      /npm install @langchain\/groq/,
    ],
    [
      "offline without offline models",
      "offline:receipts",
      {},
      {},
      "UNKNOWN_MODEL_PROVIDER",
      /No offline models/,
    ],
    ["no provider", "our-model", {}, {}, "INVALID_AGENT", /provider:model/],
    ["no model", "openai:", {}, {}, "INVALID_AGENT", /provider:model/],
    [
      "an unknown option",
      "openai:x",
      { temprature: 0 },
      { OPENAI_API_KEY: "k" },
      "INVALID_AGENT",
      /temprature/,
    ],
    [
      "a wrong option",
      "openai:x",
      { temperature: 9 },
      { OPENAI_API_KEY: "k" },
      "INVALID_AGENT",
      /temperature/,
    ],
    [
      "retries of the client",
      "openai:x",
      { maxRetries: 3 },
      { OPENAI_API_KEY: "k" },
      "INVALID_AGENT",
      /maxRetries: retries belong to the agent's policy/,
    ],
    [
      "retries among the params",
      "openai:x",
      { params: { maxRetries: 3 } },
      { OPENAI_API_KEY: "k" },
      "INVALID_AGENT",
      /params\.maxRetries/,
    ],
    [
      "a key among the options",
      "openai:x",
      { apiKey: "sk-secret" },
      {},
      "INVALID_AGENT",
      /apiKey: keys come from the environment/,
    ],
    [
      "a key where its name belongs",
      "openai:x",
      { apiKeyEnv: "sk-secret" },
      {},
      "INVALID_AGENT",
      /apiKeyEnv: must be the name/,
    ],
    [
      "a base URL that is none",
      "openai:x",
      { baseUrl: "localhost" },
      { OPENAI_API_KEY: "k" },
      "INVALID_AGENT",
      /baseUrl: must be an http/,
    ],
    [
      "a base URL with a password",
      "openai:x",
      { baseUrl: "http://u:sk-secret@h/v1" },
      { OPENAI_API_KEY: "k" },
      "INVALID_AGENT",
      /password/,
    ],
    [
      "a base URL in the environment",
      "openai:x",
      {},
      { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "sk-secret" },
      "INVALID_CONFIG",
      /OPENAI_BASE_URL/,
    ],
    [
      "what LangChain refuses",
      "openai:x",
      { params: { maxConcurrency: -1 } },
      { OPENAI_API_KEY: "k" },
      "INVALID_AGENT",
      /could not make model "openai:x": .*concurrency/,
    ],
  ])("%s", async (_what, spec, options, env, code, message) => {
    const refused = await resolveModel(spec, options as ModelOptions, env).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(String(refused)).not.toContain("sk-");
  });

  it.each([
    ["something that is no model", {}, {}],
    ["options beside an instance", new ChatOpenAI({ model: "gpt-4o", apiKey: "x" }), { temperature: 0 }],
  ])("%s", async (_what, spec, options) => {
    await expect(resolveModel(spec as ChatOpenAI, options, {})).rejects.toMatchObject({
      code: "INVALID_AGENT",
    });
  });
});
