/**
 * One agent for each feature. With FEATURES=off they come without what a test is to prove. Longer than other files
 * because it is a list.
 */
import { appendFileSync } from "node:fs";
import { defineAgent } from "@drover/runtime";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import {
  anthropicPromptCachingMiddleware,
  bedrockPromptCachingMiddleware,
  ClearToolUsesEdit,
  contextEditingMiddleware,
  createMiddleware,
  dynamicSystemPromptMiddleware,
  openAIModerationMiddleware,
  providerToolSearchMiddleware,
  tool,
} from "langchain";
import { z } from "zod";

const isOn = process.env.FEATURES !== "off";
export const OPENAI = "openai:gpt-4o-mini";
export const CLAUDE = "anthropic:claude-haiku-4-5";

export const note = (line) => appendFileSync(process.env.LEDGER, `${JSON.stringify(line)}\n`);

/** A tool's failure, by name and status. */
class Failure extends Error {
  constructor(name, status) {
    super(`${name} for the test`);
    this.name = name;
    if (status) this.status = status;
  }
}
export class Busy extends Failure {}

const schema = z.object({
  n: z.number().optional(),
  fail: z.string().optional(),
  text: z.string().optional(),
});
const failures = new Map();

/** Notes each execution; fails `n` times for one call where the model asks for that. */
const named = (name) =>
  tool(
    ({ n = 0, fail, text }, { toolCallId, configurable }) => {
      const key = `${configurable?.thread_id} ${toolCallId}`;
      const times = failures.get(key) ?? 0;
      note({ tool: name, at: Date.now(), n });
      if (fail && times < n) {
        failures.set(key, times + 1);
        throw new Failure(fail, fail === "Refused" ? 400 : undefined);
      }
      return text ?? `${name} says ${"r".repeat(200)}`;
    },
    { name, description: `Does ${name}`, schema },
  );
export const search = named("search");
export const pay = named("pay");

const plain = { modelRetry: { maxRetries: 0 } };
/** `without` is the middleware that stands where the feature is off: none, or the same without one option. */
export const agent = (name, { policy, middleware, without, fallbacks, ...rest }) =>
  defineAgent({
    name,
    model: OPENAI,
    tools: [search, pay],
    ...rest,
    policy: isOn ? (policy ?? {}) : plain,
    middleware: (isOn ? middleware : without) ?? [],
    ...(isOn && fallbacks ? { fallbacks } : {}),
  });

const quick = { initialDelayMs: 1, maxDelayMs: 5, jitter: false };
const ofPolicy = (name, policy, more = {}) => agent(name, { policy, ...more });

// Model calls
export const model_run_limit = ofPolicy("model_run_limit", { modelCalls: { run: 2 } });
export const model_thread_limit = ofPolicy("model_thread_limit", { modelCalls: { thread: 3 } });
export const model_limit_error = ofPolicy("model_limit_error", { modelCalls: { run: 1, onLimit: "error" } });
export const fallback = agent("fallback", {
  policy: { modelRetry: { maxRetries: 0 } },
  fallbacks: [CLAUDE, "openai:gpt-4.1"],
});
export const fallback_retries = agent("fallback_retries", {
  policy: { modelRetry: { ...quick, maxRetries: 1 } },
  fallbacks: [CLAUDE],
});
export const model_retries = ofPolicy("model_retries", { modelRetry: { ...quick, maxRetries: 4 } });
export const model_retry_on = ofPolicy("model_retry_on", {
  modelRetry: { ...quick, retryOn: (error) => error.status === 400 },
});
export const model_retry_classes = ofPolicy("model_retry_classes", {
  modelRetry: { ...quick, retryOn: [class BadRequestError extends Error {}] },
});
export const model_backoff = ofPolicy("model_backoff", {
  modelRetry: { maxRetries: 3, initialDelayMs: 100, backoffFactor: 3, maxDelayMs: 400, jitter: false },
});
export const model_constant = ofPolicy("model_constant", {
  modelRetry: { maxRetries: 3, initialDelayMs: 150, backoffFactor: 0, jitter: false },
});
export const model_jitter = ofPolicy("model_jitter", {
  modelRetry: { maxRetries: 20, initialDelayMs: 300, backoffFactor: 1, jitter: true },
});
export const model_continue = ofPolicy("model_continue", { modelRetry: { ...quick, onFailure: "continue" } });
export const model_on_failure = ofPolicy("model_on_failure", {
  modelRetry: { ...quick, onFailure: (error) => `sorry: ${error.status}` },
});
export const model_error = ofPolicy("model_error", {
  modelRetry: { ...quick, maxRetries: 1, onFailure: "error" },
});

// Tools
const toolLimit = (name, limit) => ofPolicy(name, { toolCalls: [limit] });
export const tool_run_limit = toolLimit("tool_run_limit", { run: 2 });
export const tool_thread_limit = toolLimit("tool_thread_limit", { thread: 2 });
export const tool_name_limit = toolLimit("tool_name_limit", { tool: "search", run: 1 });
export const tool_limit_end = toolLimit("tool_limit_end", { tool: "search", run: 1, onLimit: "end" });
export const tool_limit_error = toolLimit("tool_limit_error", { run: 1, onLimit: "error" });
const toolRetry = (name, rule) => ofPolicy(name, { toolRetry: [{ ...quick, ...rule }] });
export const tool_retries = toolRetry("tool_retries", { maxRetries: 4 });
export const tool_retry_tools = toolRetry("tool_retry_tools", { tools: [search] });
export const tool_retry_on = toolRetry("tool_retry_on", { retryOn: (error) => error.name === "Busy" });
export const tool_retry_classes = toolRetry("tool_retry_classes", { retryOn: [Busy] });
export const tool_backoff = toolRetry("tool_backoff", {
  maxRetries: 3,
  initialDelayMs: 100,
  backoffFactor: 3,
  maxDelayMs: 400,
});
export const tool_constant = toolRetry("tool_constant", {
  maxRetries: 3,
  initialDelayMs: 150,
  backoffFactor: 0,
  maxDelayMs: 5000,
});
export const tool_jitter = toolRetry("tool_jitter", {
  maxRetries: 3,
  initialDelayMs: 200,
  backoffFactor: 1,
  maxDelayMs: 500,
  jitter: true,
});
export const tool_continue = toolRetry("tool_continue", { onFailure: "continue" });
export const tool_retry_error = toolRetry("tool_retry_error", { onFailure: "error" });
export const tool_on_failure = toolRetry("tool_on_failure", {
  onFailure: (error) => `sorry: ${error.message}`,
});
export const tool_raise = toolRetry("tool_raise", { onFailure: "raise" });
export const tool_return_message = toolRetry("tool_return_message", { onFailure: "return_message" });
export const tool_errors = ofPolicy("tool_errors", {
  toolErrors: { onError: (error) => (error.name === "Busy" ? "try later" : undefined) },
});
export const tool_errors_by_tool = ofPolicy("tool_errors_by_tool", {
  toolErrors: { tools: { search: "fail" } },
});

// Approvals
const approval = (name, rule) => ofPolicy(name, { approvals: { pay: rule, search: false } });
export const approve_all = approval("approve_all", true);
export const approve_decisions = approval("approve_decisions", { decisions: ["reject"] });
export const approve_when = approval("approve_when", { when: ({ toolCall }) => toolCall.args.n > 100 });
export const approve_text = approval("approve_text", { description: "Finance must see this." });
export const approve_description = approval("approve_description", {
  description: (call) => `Pay ${call.args.n}?`,
});
export const guarded = ofPolicy("guarded", {
  approvals: { pay: true },
  guards: { pay: ({ toolCall }) => (toolCall.args.n > 100 ? "Too much." : undefined) },
});

// What the model sees
const summing = { model: CLAUDE, keep: { messages: 2 } };
const summary = (name, rule) => ofPolicy(name, { summarization: { ...summing, ...rule } });
export const sum_messages = summary("sum_messages", { trigger: { messages: 4 } });
export const sum_tokens = summary("sum_tokens", { trigger: { tokens: 100 } });
export const sum_fraction = summary("sum_fraction", { trigger: { fraction: 0.1 }, maxInputTokens: 1000 });
export const sum_profile = summary("sum_profile", { trigger: { fraction: 0.0008 } });
export const sum_and = summary("sum_and", { trigger: { messages: 4, tokens: 100 } });
export const sum_or = summary("sum_or", { trigger: [{ messages: 100 }, { tokens: 100 }] });
export const sum_keep_tokens = summary("sum_keep_tokens", { trigger: { messages: 4 }, keep: { tokens: 20 } });
export const sum_keep_fraction = summary("sum_keep_fraction", {
  trigger: { messages: 4 },
  keep: { fraction: 0.02 },
  maxInputTokens: 1000,
});
export const sum_counter = summary("sum_counter", {
  trigger: { tokens: 4000 },
  tokenCounter: (messages) => messages.length * 1000,
});
export const sum_prompt = summary("sum_prompt", {
  trigger: { messages: 4 },
  summaryPrompt: "Boil down: {messages}",
});
export const sum_prefix = summary("sum_prefix", { trigger: { messages: 4 }, summaryPrefix: "Before:" });
export const sum_trim = summary("sum_trim", { trigger: { messages: 4 }, trimTokensToSummarize: 10 });
export const sum_older = ofPolicy("sum_older", {
  summarization: { model: CLAUDE, maxTokensBeforeSummary: 100, messagesToKeep: 2 },
});
export const sum_overflow = summary("sum_overflow", {});

const editing = (name, config, more = {}) =>
  agent(name, {
    middleware: isOn && [contextEditingMiddleware({ edits: [new ClearToolUsesEdit(config)], ...more })],
  });
export const edit_messages = editing("edit_messages", { trigger: { messages: 4 }, keep: { messages: 1 } });
export const edit_tokens = editing("edit_tokens", { trigger: { tokens: 80 }, keep: { tokens: 70 } });
export const edit_fraction = editing("edit_fraction", {
  trigger: { fraction: 0.0005 },
  keep: { fraction: 0.0006 },
});
export const edit_inputs = editing("edit_inputs", {
  trigger: { messages: 4 },
  keep: { messages: 0 },
  clearToolInputs: true,
});
export const edit_exclude = editing("edit_exclude", {
  trigger: { messages: 4 },
  keep: { messages: 0 },
  excludeTools: ["pay"],
});
export const edit_placeholder = editing("edit_placeholder", {
  trigger: { messages: 4 },
  keep: { messages: 0 },
  placeholder: "[gone]",
});
export const edit_older = editing("edit_older", { triggerTokens: 80, keepMessages: 1 });
export const edit_at_least = editing("edit_at_least", {
  trigger: { tokens: 80 },
  keep: { messages: 1 },
  clearAtLeast: 1000,
});
export const edit_approx = editing(
  "edit_approx",
  { trigger: { tokens: 80 }, keep: { messages: 0 } },
  { tokenCountMethod: "approx" },
);

export const todo_list = ofPolicy("todo_list", { todoList: true });
export const todo_words = ofPolicy("todo_words", {
  todoList: { systemPrompt: "Keep a list.", toolDescription: "Writes it down." },
});
export const selector = ofPolicy("selector", {
  toolSelector: { model: CLAUDE, systemPrompt: "Choose well.", maxTools: 1 },
});
export const selector_always = ofPolicy("selector_always", {
  toolSelector: { model: CLAUDE, alwaysInclude: ["pay"] },
});
export const emulator = ofPolicy("emulator", { toolEmulator: { model: CLAUDE } });
export const emulator_tools = ofPolicy("emulator_tools", { toolEmulator: { model: CLAUDE, tools: [pay] } });
export const dynamic_prompt = agent("dynamic_prompt", {
  contextSchema: z.object({ region: z.string() }),
  middleware: [
    dynamicSystemPromptMiddleware(
      (state, runtime) => `Region ${runtime.context.region}, ${state.messages.length} message.`,
    ),
  ],
});

// Providers
/** A model that says it is Bedrock's; what it is asked goes over the wire as Anthropic has it. */
class Bedrocks extends ChatAnthropic {
  static lc_name() {
    return "ChatBedrockConverse";
  }
}
const bedrocks = new Bedrocks({ model: "anthropic.claude-haiku-4-5", apiKey: "k" });
const caching = (of, model) => (name, options, without) =>
  agent(name, {
    model,
    middleware: [of({ minMessagesToCache: 1, ...options })],
    ...(without && { without: [of({ minMessagesToCache: 1, ...without })] }),
  });
const anthropics = caching(anthropicPromptCachingMiddleware, CLAUDE);
export const caching_on = anthropics("caching_on", { enableCaching: true });
export const caching_off = anthropics("caching_off", { enableCaching: false }, {});
export const caching_hour = anthropics("caching_hour", { ttl: "1h" });
export const caching_later = anthropics("caching_later", { minMessagesToCache: 3 });
const bedrock = caching(bedrockPromptCachingMiddleware, bedrocks);
export const bedrock_on = bedrock("bedrock_on", { enableCaching: true });
export const bedrock_off = bedrock("bedrock_off", { enableCaching: false }, {});
export const bedrock_hour = bedrock("bedrock_hour", { ttl: "1h" });
export const bedrock_later = bedrock("bedrock_later", { minMessagesToCache: 3 });
const unsupported = (name, of, unsupportedModelBehavior, without) =>
  caching(of, OPENAI)(name, { unsupportedModelBehavior }, without);
export const caching_raise = unsupported("caching_raise", anthropicPromptCachingMiddleware, "raise");
export const caching_warn = unsupported("caching_warn", anthropicPromptCachingMiddleware, "warn");
export const caching_ignore = unsupported("caching_ignore", anthropicPromptCachingMiddleware, "ignore", {});
export const bedrock_raise = unsupported("bedrock_raise", bedrockPromptCachingMiddleware, "raise");
export const bedrock_warn = unsupported("bedrock_warn", bedrockPromptCachingMiddleware, "warn");
export const bedrock_ignore = unsupported("bedrock_ignore", bedrockPromptCachingMiddleware, "ignore", {});
export const edit_by_model = agent("edit_by_model", {
  model: CLAUDE,
  middleware: [contextEditingMiddleware({ edits: [new ClearToolUsesEdit()], tokenCountMethod: "model" })],
});
export const tool_search = agent("tool_search", {
  model: CLAUDE,
  middleware: [providerToolSearchMiddleware({ searchableTools: ["pay"] })],
});
const moderated = (name, options) => {
  const configuration = { baseURL: process.env.MODERATION_URL ?? "http://127.0.0.1:9/v1" };
  const model = new ChatOpenAI({ model: "gpt-4o-mini", apiKey: "k", configuration });
  return agent(name, {
    middleware: [openAIModerationMiddleware({ model, violationMessage: "No: {categories}", ...options })],
  });
};
export const moderation_end = moderated("moderation_end", { checkInput: true, exitBehavior: "end" });
export const moderation_error = moderated("moderation_error", { exitBehavior: "error" });
export const moderation_replace = moderated("moderation_replace", {
  exitBehavior: "replace",
  violationMessage: "[removed]",
});
export const moderation_output = moderated("moderation_output", { checkInput: false, checkOutput: true });
export const moderation_tools = moderated("moderation_tools", {
  checkInput: false,
  checkOutput: false,
  checkToolResults: true,
});
const moderatedBy = (name, moderationModel) => moderated(name, { moderationModel });
export const omni_moderation_latest = moderatedBy("omni_moderation_latest", "omni-moderation-latest");
export const omni_moderation_2024 = moderatedBy("omni_moderation_2024", "omni-moderation-2024-09-26");
export const text_moderation_latest = moderatedBy("text_moderation_latest", "text-moderation-latest");
export const text_moderation_stable = moderatedBy("text_moderation_stable", "text-moderation-stable");

// PII
const pii = (name, rule) => ofPolicy(name, { pii: [{ applyToInput: true, ...rule }] });
export const pii_email = pii("pii_email", { type: "email" });
export const pii_credit_card = pii("pii_credit_card", { type: "credit_card", strategy: "mask" });
export const pii_ip = pii("pii_ip", { type: "ip" });
export const pii_mac_address = pii("pii_mac_address", { type: "mac_address" });
export const pii_url = pii("pii_url", { type: "url" });
export const pii_hash = pii("pii_hash", { type: "email", strategy: "hash" });
export const pii_block = pii("pii_block", { type: "email", strategy: "block" });
export const pii_output = pii("pii_output", { type: "email", applyToInput: false, applyToOutput: true });
export const pii_tool_results = pii("pii_tool_results", {
  type: "email",
  applyToInput: false,
  applyToToolResults: true,
});
export const pii_pattern = pii("pii_pattern", { type: "api_key", detector: "sk-[a-zA-Z0-9]{8}" });
export const pii_regexp = pii("pii_regexp", { type: "code", detector: /ab\d+/i });
const coverAll = { pii: [{ type: "email", everywhere: true }] };
export const pii_everywhere = ofPolicy("pii_everywhere", coverAll);
export const pii_thinking = ofPolicy("pii_thinking", coverAll, { model: CLAUDE });
export const pii_function = pii("pii_function", {
  type: "word",
  detector: (text) =>
    text.includes("secret")
      ? [{ text: "secret", start: text.indexOf("secret"), end: text.indexOf("secret") + 6 }]
      : [],
});

// One's own
const own = {
  name: "own",
  stateSchema: z.object({ seen: z.number().default(0) }),
  contextSchema: z.object({ most: z.number().default(2) }),
};
export const own_hooks = agent("own_hooks", {
  middleware: [
    createMiddleware({
      ...own,
      beforeAgent: () => note({ hook: "beforeAgent" }),
      beforeModel: {
        canJumpTo: ["end"],
        hook: (state, { context }) => {
          note({ hook: "beforeModel", seen: state.seen });
          return state.seen >= context.most ? { jumpTo: "end" } : undefined;
        },
      },
      wrapModelCall: (request, handler) => {
        note({ hook: "wrapModelCall" });
        return handler(request);
      },
      wrapToolCall: (request, handler) => {
        note({ hook: "wrapToolCall" });
        return handler(request);
      },
      afterModel: (state) => {
        note({ hook: "afterModel" });
        return { seen: state.seen + 1 };
      },
      afterAgent: () => note({ hook: "afterAgent" }),
    }),
  ],
  without: [createMiddleware(own)],
});
