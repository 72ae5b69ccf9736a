import { DroverError } from "@drover/contracts";
import type { RunContext } from "../execute/run-context.js";
import {
  LimitReachedError,
  modelLimitError,
  modelLimitMessage,
  takeModelUnit,
  takeToolUnit,
} from "./limits.js";
import type { EffectivePolicy } from "./policy.js";
import { limitMessage } from "./tool-answers.js";

/**
 * The unit of a request that an agent inside of a tool makes, or a node by itself. Where none is left, what it works for
 * fails with it. Where the policy says so the run ends, whatever becomes of the error on its way out.
 */
export async function takeUngatedModelUnit(policy: EffectivePolicy, run: RunContext): Promise<void> {
  const reached = await takeModelUnit(policy, run);
  if (reached === undefined) return;
  if (reached.rule.onLimit === "error") run.stop(modelLimitError(reached));
  throw new LimitReachedError(modelLimitMessage(reached));
}

/** The same for a call of a tool. */
export async function takeUngatedToolUnit(
  policy: EffectivePolicy,
  name: string,
  run: RunContext,
): Promise<void> {
  const reached = await takeToolUnit(policy, name, run);
  if (reached === undefined) return;
  const text = limitMessage({ name }, reached);
  if (reached.rule.onLimit === "error") run.stop(new DroverError("TOOL_CALL_LIMIT", text));
  throw new LimitReachedError(text);
}
