import type { RunContext } from "../execute/run-context.js";
import { delayBefore, wait } from "./backoff.js";
import { ModelCallError, trueCause } from "./failures.js";
import type { EffectivePolicy } from "./policy.js";
import { isRetried } from "./retry-on.js";

/** Tries a model call again as the policy says; what is asked throws ModelCallError where a call failed. */
export async function withRetries<T>(
  policy: EffectivePolicy,
  run: RunContext,
  ask: () => T | Promise<T>,
): Promise<T> {
  const { modelRetry: rule } = policy;
  for (let retry = 1; ; retry++) {
    try {
      return await ask();
    } catch (error) {
      const cause = trueCause(error);
      if (!(cause instanceof ModelCallError) || retry > rule.maxRetries || !mayRetry(policy, cause))
        throw error;
      const { retryAfterMs } = cause;
      // The provider wants a longer wait than a worker should hold: the run's own retry waits in the queue.
      if (retryAfterMs !== undefined && retryAfterMs > rule.maxDelayMs) throw error;
      const delayMs = delayBefore(retry, rule, retryAfterMs);
      const { agent } = run.activation;
      run.services.logger.warn(
        { code: cause.code, retry, delayMs },
        "A model call failed and is tried again",
      );
      run.services.metrics?.inc("drover_retries_total", { agent, layer: "model" });
      await wait(delayMs, run.services.signal);
    }
  }
}

function mayRetry({ modelRetry }: EffectivePolicy, error: ModelCallError): boolean {
  if (modelRetry.retryOn === undefined) return error.retryable;
  return isRetried(modelRetry.retryOn, error.cause instanceof Error ? error.cause : error);
}
