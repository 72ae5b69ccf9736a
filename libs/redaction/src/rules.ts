import {
  BUILT_IN_PII_TYPES,
  DroverError,
  type PiiRuleData,
  type PLACES_TO_EXCEPT,
  parseOrThrow,
  piiRuleSchema,
  type RedactionPlace,
  type RedactionStrategy,
} from "@drover/contracts";
import { limitedDetector, type PiiDetectorFunction } from "./custom-function.js";
import { patternDetector } from "./custom-pattern.js";
import { BUILT_IN_DETECTORS } from "./detectors/index.js";
import type { Detector } from "./match.js";

/**
 * A PII rule as written in code: the options of LangChain's piiMiddleware, `everywhere` and `except`. Unset options
 * have the defaults of PiiRuleData.
 */
export interface PiiRule {
  type: string;
  strategy?: RedactionStrategy | undefined;
  detector?: string | RegExp | PiiDetectorFunction | undefined;
  flags?: string | undefined;
  applyToInput?: boolean | undefined;
  applyToOutput?: boolean | undefined;
  applyToToolResults?: boolean | undefined;
  everywhere?: boolean | undefined;
  except?: readonly (typeof PLACES_TO_EXCEPT)[number][] | undefined;
}

/** A rule whose detector is ready to run. */
export interface CompiledRule extends Omit<PiiRuleData, "detector" | "flags"> {
  detect: Detector;
  /** Whether detection can depend on the label that stands over a text. */
  readsLabels: boolean;
}

/** Checks a rule and its detector. Throws DroverError INVALID_POLICY. */
export function compileRule(rule: PiiRule, detectorTimeoutMs: number): CompiledRule {
  const { detector, ...rest } = rule;
  const isPattern = typeof detector === "string";
  const data = parseOrThrow(
    piiRuleSchema,
    Object.fromEntries(Object.entries(isPattern ? rule : rest).filter(([, value]) => value !== undefined)),
    `The PII rule ${JSON.stringify(rule.type)} is not valid`,
    "INVALID_POLICY",
  );
  if (data.everywhere && data.except.length > 0) {
    throw new DroverError(
      "INVALID_POLICY",
      `The PII rule "${data.type}" has both everywhere and except: leave one out.`,
    );
  }
  const { flags, detector: pattern, ...fields } = data;
  return {
    ...fields,
    readsLabels: detector === undefined,
    detect: detectorOf(data.type, pattern ?? (isPattern ? undefined : detector), flags, detectorTimeoutMs),
  };
}

function detectorOf(
  type: string,
  detector: PiiRule["detector"],
  flags: string | undefined,
  timeoutMs: number,
): Detector {
  if (typeof detector === "function") return limitedDetector(type, detector, timeoutMs);
  if (typeof detector === "string") return patternDetector(type, detector, flags ?? "", timeoutMs);
  if (detector instanceof RegExp)
    return patternDetector(type, detector.source, flags ?? detector.flags, timeoutMs);
  if (flags !== undefined) {
    throw new DroverError(
      "INVALID_POLICY",
      `The PII rule "${type}" has flags but no detector: give the pattern as detector.`,
    );
  }
  const builtIn = BUILT_IN_DETECTORS.get(type);
  if (builtIn) return builtIn;
  throw new DroverError(
    "INVALID_POLICY",
    `The PII rule "${type}" has no detector, and none is built in for this type. Give a detector, or use one of: ${BUILT_IN_PII_TYPES.join(", ")}.`,
  );
}

/**
 * Whether a rule looks at a place. The model's own words obey applyToOutput, what tools answer obeys
 * applyToToolResults, what comes in obeys applyToInput. All other places are roads on which any of these texts may
 * come by again, so that every rule watches them, save where `except` leaves a place alone.
 */
export function ruleCovers(rule: CompiledRule, place: RedactionPlace): boolean {
  if (rule.everywhere) return true;
  switch (place) {
    case "input":
      return rule.applyToInput;
    case "output":
    case "reasoning":
    case "structured_output":
      return rule.applyToOutput;
    case "tool_result":
      return rule.applyToToolResults;
    case "tool_args":
    case "approval":
    case "memory":
    case "file":
      return !rule.except.includes(place);
    case "error":
    case "event":
    case "log":
    case "metadata":
      return true;
  }
}
