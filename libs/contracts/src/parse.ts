import type { z } from "zod";
import { DroverError, type ErrorCode } from "./errors.js";

/**
 * Parses at the edge: gives the value, or throws a DroverError whose message names each wrong place.
 * An issue may carry a code of its own in `params.code`.
 */
export function parseOrThrow<S extends z.ZodType>(
  schema: S,
  value: unknown,
  what: string,
  code: ErrorCode = "INVALID_INPUT",
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues;
  const places = issues.slice(0, 5).map((issue) => {
    const path = issue.path.map(String).join(".");
    return path ? `${path}: ${issue.message}` : issue.message;
  });
  const more = issues.length > 5 ? ` (and ${issues.length - 5} more)` : "";
  throw new DroverError(ownCode(issues) ?? code, `${what}: ${places.join("; ")}${more}.`);
}

function ownCode(issues: readonly z.core.$ZodIssue[]): ErrorCode | undefined {
  for (const issue of issues) {
    if (issue.code === "custom" && issue.params?.code) return issue.params.code as ErrorCode;
  }
  return undefined;
}
