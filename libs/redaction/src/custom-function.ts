import vm from "node:vm";
import { DroverError, isDroverError } from "@drover/contracts";
import type { Detector, Match } from "./match.js";

/** A detector of one's own, as LangChain's piiMiddleware takes it. Positions count; `text` is not looked at. */
export type PiiDetectorFunction = (
  content: string,
) => readonly { start: number; end: number; text?: string }[];

/**
 * A detector function under a time limit. The limit is a hard one: a script that runs in node:vm with a timeout is
 * terminated by V8 together with all that it called, the function's own closures and a backtracking regular
 * expression in it included. Only a blocking call into the system (a synchronous file read) is waited for.
 */
export function limitedDetector(type: string, detect: PiiDetectorFunction, timeoutMs: number): Detector {
  return (text) => {
    if (text.length === 0) return [];
    return checkedMatches(
      type,
      underTimeLimit(type, () => detect(text), text.length, timeoutMs),
      text.length,
    );
  };
}

let pending: (() => unknown) | undefined;
const sandbox = vm.createContext({ run: () => pending?.() });
const script = new vm.Script("run()");

/**
 * Runs a function of a rule. Throws PII_DETECTOR_FAILED when it throws or takes longer than `timeoutMs` and one
 * millisecond for each 1,024 characters.
 */
export function underTimeLimit<T>(type: string, task: () => T, textLength: number, timeoutMs: number): T {
  const outer = pending;
  const limitMs = timeoutMs + Math.ceil(textLength / 1_024);
  let result: { value: T } | undefined;
  pending = () => {
    result = { value: task() };
  };
  try {
    script.runInContext(sandbox, { timeout: limitMs });
  } catch (error) {
    throw failure(type, error, textLength, limitMs);
  } finally {
    pending = outer;
  }
  if (result === undefined) throw detectorFailed(type, "gave no answer");
  return result.value;
}

function failure(type: string, error: unknown, textLength: number, limitMs: number): DroverError {
  if (isDroverError(error)) return error;
  const isTimeout =
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
  if (!isTimeout) return detectorFailed(type, "threw: run it over a text of your own to see the error");
  return detectorFailed(
    type,
    `took longer than ${limitMs} ms over ${textLength} characters: make it faster or raise detectorTimeoutMs`,
  );
}

function detectorFailed(type: string, what: string): DroverError {
  // Without the cause: its message may quote the text.
  return new DroverError("PII_DETECTOR_FAILED", `The detector of the PII rule "${type}" ${what}.`);
}

/** In order and without overlap, as detectors must answer. */
function checkedMatches(type: string, answer: unknown, length: number): Match[] {
  if (!Array.isArray(answer)) {
    throw detectorFailed(type, "did not return an array of {start, end}; it must not be asynchronous");
  }
  const matches: Match[] = [];
  for (const item of answer as unknown[]) {
    const { start, end } = (item ?? {}) as { start?: unknown; end?: unknown };
    if (!isPosition(start, length) || !isPosition(end, length) || start > end) {
      throw detectorFailed(type, "returned a match without start and end, or one outside of the text");
    }
    if (start < end) matches.push({ start, end });
  }
  return joined(matches.sort((a, b) => a.start - b.start));
}

function isPosition(value: unknown, length: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= length;
}

function joined(sorted: readonly Match[]): Match[] {
  const matches: Match[] = [];
  for (const match of sorted) {
    const last = matches.at(-1);
    if (last && match.start < last.end) last.end = Math.max(last.end, match.end);
    else matches.push({ ...match });
  }
  return matches;
}
