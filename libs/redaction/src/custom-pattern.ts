import { DroverError } from "@drover/contracts";
import { RE2JS } from "re2js";
import { underTimeLimit } from "./custom-function.js";
import type { Detector, Match } from "./match.js";
import { patternForRe2 } from "./re2-syntax.js";

/** A text up to this length is looked through without a clock first: RE2 needs well under 100 ms for it. */
const SHORT_TEXT = 2_048;

/**
 * A detector from a regular expression, run by RE2: one search takes time linear in the text, whatever the pattern.
 * Many searches over one text can still add up, so that they are under the same time limit as functions. Throws
 * DroverError INVALID_POLICY for what RE2 cannot do (lookahead, backreferences), unknown flags and empty matches.
 */
export function patternDetector(type: string, source: string, flags: string, timeoutMs: number): Detector {
  const expression = compile(type, source, flags);
  const isMultiline = flags.includes("m");
  if (["", "a", "0", " ", "a b", "\n", "-", source].some((sample) => matchesEmpty(expression, sample))) {
    throw refused(type, "matches the empty text, which is everywhere: let it match at least one character");
  }
  return (text) => {
    const input = isMultiline ? text.replace(/[\r\u2028\u2029]/g, "\n") : text;
    if (input.length <= SHORT_TEXT && !expression.test(input)) return [];
    return underTimeLimit(
      type,
      () => (expression.test(input) ? findAll(expression, input) : []),
      input.length,
      timeoutMs,
    );
  };
}

function compile(type: string, source: string, flags: string): RE2JS {
  const unknown = [...flags].filter((flag) => !"dgimsu".includes(flag));
  if (unknown.length > 0) {
    throw refused(type, `has the flag ${unknown.join(", ")}, which is not supported: use i, m, s or u`);
  }
  try {
    new RegExp(source, flags.replace("u", ""));
  } catch {
    throw refused(type, "is not a valid regular expression");
  }
  try {
    return RE2JS.compile(patternForRe2(source, flags), re2Flags(flags));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refused(
      type,
      `cannot be run in linear time (${reason}): write it without that, or give a function`,
    );
  }
}

function re2Flags(flags: string): number {
  let bits = RE2JS.LOOKBEHINDS;
  if (flags.includes("i")) bits |= RE2JS.CASE_INSENSITIVE;
  if (flags.includes("m")) bits |= RE2JS.MULTILINE;
  if (flags.includes("s")) bits |= RE2JS.DOTALL;
  return bits;
}

function matchesEmpty(expression: RE2JS, sample: string): boolean {
  const matcher = expression.matcher(sample);
  while (matcher.find()) if (matcher.start() === matcher.end()) return true;
  return false;
}

function findAll(expression: RE2JS, text: string): Match[] {
  const matches: Match[] = [];
  const matcher = expression.matcher(text);
  while (matcher.find()) {
    if (matcher.start() < matcher.end()) matches.push({ start: matcher.start(), end: matcher.end() });
  }
  return matches;
}

function refused(type: string, why: string): DroverError {
  return new DroverError("INVALID_POLICY", `The detector of the PII rule "${type}" ${why}.`);
}
