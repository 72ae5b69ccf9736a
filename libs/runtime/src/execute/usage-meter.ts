import { noUsage, USAGE_FIELDS, type Usage } from "@drover/contracts";
import type { AIMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { classifyModelError, loadPrices, type Prices, usageOfCall } from "../models/index.js";
import { answerIn, ModelListener } from "./model-listener.js";
import type { Services } from "./services.js";

/** A request to a provider that has not been answered. */
interface OpenCall {
  startedAt: number;
  provider: string;
  /** As the price list names it: `provider:model`. */
  model: string;
  /** The graph's step. */
  step: string;
}

let ownPrices: Prices | undefined;

/** Counts what one activation uses, wherever in the graph: every request to a provider and every tool's start. */
export class UsageMeter extends ModelListener {
  readonly name = "drover.usage";
  readonly usage: Usage = noUsage();
  readonly answers = new Map<string, AIMessage>();
  readonly #open = new Map<string, OpenCall>();
  readonly #agent: string;
  readonly #tenant: string;
  readonly #services: Services;

  constructor(agent: string, tenant: string, services: Services) {
    super();
    this.#agent = agent;
    this.#tenant = tenant;
    this.#services = services;
  }

  protected override modelAsked(runId: string, metadata: Record<string, unknown>): void {
    this.usage.modelCalls += 1;
    const { provider, model } = modelOfCall(metadata);
    const step = String(metadata.langgraph_checkpoint_ns ?? "");
    this.#open.set(runId, { startedAt: performance.now(), provider, model, step });
  }

  override handleToolStart(): void {
    this.usage.toolCalls += 1;
  }

  override handleLLMEnd(output: LLMResult, runId: string): void {
    const call = this.#close(runId, "success");
    const message = answerIn(output);
    if (!call || !message) return;
    restoreFinishReason(message, output.generations[0]?.[0]?.generationInfo);
    this.answers.set(call.step, message);
    ownPrices ??= loadPrices();
    const used = usageOfCall(message, call.model, this.#services.prices ?? ownPrices);
    for (const field of USAGE_FIELDS) if (field !== "modelCalls") this.usage[field] += used[field];
    this.#countTokens(call, used);
  }

  override handleLLMError(error: unknown, runId: string): void {
    this.#close(runId, classifyModelError(error).code);
  }

  #close(runId: string, outcome: "success" | ReturnType<typeof classifyModelError>["code"]) {
    const call = this.#open.get(runId);
    if (!call) return undefined;
    this.#open.delete(runId);
    const labels = { agent: this.#agent, model: call.model, provider: call.provider };
    const seconds = (performance.now() - call.startedAt) / 1000;
    this.#services.metrics?.inc("drover_model_calls_total", { ...labels, outcome });
    this.#services.metrics?.observe("drover_model_call_duration_seconds", labels, seconds);
    return call;
  }

  #countTokens({ model, provider }: OpenCall, used: Usage): void {
    const { metrics } = this.#services;
    const labels = { agent: this.#agent, model, provider };
    const tokens = [
      ["input", used.inputTokens],
      ["output", used.outputTokens],
      ["cached", used.cachedTokens],
      ["reasoning", used.reasoningTokens],
    ] as const;
    for (const [direction, count] of tokens) {
      if (count > 0) metrics?.inc("drover_model_tokens_total", { ...labels, direction }, count);
    }
    if (used.unpricedCalls > 0) metrics?.inc("drover_model_unpriced_calls_total", { model, provider });
    if (used.costMicros > 0) {
      const dollars = used.costMicros / 1_000_000;
      metrics?.inc("drover_model_cost_dollars_total", { ...labels, tenant: this.#tenant }, dollars);
    }
  }
}

/** Provider and model of a call, as the price list names them: `provider:model`. */
export function modelOfCall(metadata: Record<string, unknown>): { provider: string; model: string } {
  const provider = String(metadata.ls_provider ?? "unknown");
  const name = String(metadata.ls_model_name ?? "unknown");
  return { provider, model: name.startsWith(`${provider}:`) ? name : `${provider}:${name}` };
}

/**
 * LangChain loses OpenAI's reason for the end of an answer when it streams the answer for its own callbacks, and
 * keeps it beside the message only. Without it, an answer that broke off looks like one that was finished.
 */
function restoreFinishReason(message: AIMessage, info: Record<string, unknown> | undefined): void {
  const reason = info?.finish_reason;
  if (typeof reason !== "string" || message.response_metadata.finish_reason !== undefined) return;
  message.response_metadata = { ...message.response_metadata, finish_reason: reason };
}
