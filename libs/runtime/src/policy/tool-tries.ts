import { DroverError, matchesTool } from "@drover/contracts";
import type { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { Command } from "@langchain/langgraph";
import { type ToolCallRequest, ToolInvocationError, type WrapToolCallHook } from "langchain";
import { type RunContext, runOf } from "../execute/run-context.js";
import { delayBefore, wait } from "./backoff.js";
import { passesThrough, trueCause } from "./failures.js";
import { forTool } from "./for-tool.js";
import { LimitReachedError } from "./limits.js";
import type { EffectivePolicy } from "./policy.js";
import { isRetried } from "./retry-on.js";
import { errorAnswer } from "./tool-answers.js";

type RetryRule = EffectivePolicy["toolRetry"][number];

/**
 * The layer outside of a tool's gate: tries again what the policy retries, and turns what is left into an answer for
 * the model or into the end of the run. Interrupts, aborts, limits and errors about the run pass through.
 */
export function toolTries(policy: EffectivePolicy): WrapToolCallHook {
  return async (request, handler) => {
    const run = runOf(request.runtime);
    const { toolCall: call } = request;
    const started = performance.now();
    const rule = retryRuleFor(policy, call.name);
    for (let tries = 1; ; tries++) {
      try {
        const answer = await handler(request);
        measure(run, request, "success", started);
        return answer;
      } catch (error) {
        if (passesThrough(error, run.services.signal)) throw error;
        const cause = asError(trueCause(error));
        if (!(await triesAgain(rule, tries, cause, run))) {
          measure(run, request, "TOOL_ERROR", started);
          // Not what it says: that is the tool's own text, or quotes its arguments.
          run.services.logger.warn(
            { tool: toolOf(request), code: "TOOL_ERROR", errorClass: cause.name, tries },
            "A tool call failed",
          );
          return failed(policy, rule, tries, cause, call);
        }
      }
    }
  };
}

/** A tool marked once is never repeated, whatever a rule for all tools says. */
function retryRuleFor(policy: EffectivePolicy, tool: string): RetryRule | undefined {
  if (policy.once.some((pattern) => matchesTool(pattern, tool))) return undefined;
  return policy.toolRetry.find((rule) => rule.tools?.some((pattern) => matchesTool(pattern, tool)) ?? true);
}

async function triesAgain(
  rule: RetryRule | undefined,
  tries: number,
  cause: Error,
  run: RunContext,
): Promise<boolean> {
  if (!rule || tries > rule.maxRetries) return false;
  if (ToolInvocationError.isInstance(cause) || cause instanceof LimitReachedError) return false;
  if (!isRetried(rule.retryOn ?? mayPass, cause)) return false;
  const { retryAfterMs } = cause as { retryAfterMs?: unknown };
  const delayMs = delayBefore(tries, rule, typeof retryAfterMs === "number" ? retryAfterMs : 0);
  run.services.metrics?.inc("drover_retries_total", { agent: run.activation.agent, layer: "tool" });
  await wait(delayMs, run.services.signal);
  return true;
}

/** Everything may pass but what the other side refused: a status of 4xx that is not about time, conflict or rate. */
function mayPass(error: Error): boolean {
  const { status } = error as { status?: unknown };
  if (typeof status !== "number" || status < 400 || status > 499) return true;
  return status === 408 || status === 409 || status === 429;
}

function failed(
  policy: EffectivePolicy,
  rule: RetryRule | undefined,
  tries: number,
  cause: Error,
  call: ToolCall,
): ToolMessage | Command {
  if (ToolInvocationError.isInstance(cause)) {
    const { message } = cause.toolError;
    return errorAnswer(
      call,
      `Error invoking tool '${call.name}': ${message}\n Please fix the error and try again.`,
    );
  }
  if (rule && tries > 1) {
    if (rule.onFailure === "error") throw toolError(call, cause);
    const text =
      typeof rule.onFailure === "function"
        ? rule.onFailure(cause)
        : `Tool '${call.name}' failed after ${tries} attempts: ${cause.message}`;
    return errorAnswer(call, text);
  }
  const told = policy.toolErrors.onError?.(cause, call);
  if (told !== undefined) return errorAnswer(call, told);
  if (policy.toolErrors.onError || actionFor(policy, call.name) === "fail") throw toolError(call, cause);
  return errorAnswer(call, `${cause}\n Please fix your mistakes.`);
}

function actionFor({ toolErrors }: EffectivePolicy, tool: string): "message" | "fail" {
  return forTool(toolErrors.tools, tool) ?? toolErrors.default;
}

function toolError({ name }: ToolCall, cause: Error): DroverError {
  return new DroverError("TOOL_ERROR", `The tool '${name}' threw: ${cause.message}`, { cause });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function measure(
  run: RunContext,
  request: Pick<ToolCallRequest, "tool" | "toolCall">,
  outcome: "success" | "TOOL_ERROR",
  started: number,
) {
  const { agent } = run.activation;
  const tool = toolOf(request);
  run.services.metrics?.inc("drover_tool_calls_total", { agent, tool, outcome });
  const seconds = (performance.now() - started) / 1000;
  run.services.metrics?.observe("drover_tool_call_duration_seconds", { agent, tool }, seconds);
}

/** A name that the model made up is no series. */
function toolOf({ tool, toolCall }: Pick<ToolCallRequest, "tool" | "toolCall">): string {
  return tool === undefined ? "other" : toolCall.name;
}
