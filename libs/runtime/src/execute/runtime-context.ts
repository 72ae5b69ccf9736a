import { DroverError } from "@drover/contracts";
import { interopSafeParse } from "@langchain/core/utils/types";
import type { AgentDefinition } from "../agent/define-agent.js";
import type { Environment } from "../models/index.js";

/**
 * The agent's runtime context as it runs with it: `{$date}` is a Date, `{$credential: "NAME"}` is the value of
 * DROVER_CREDENTIAL_NAME in the worker's environment, and the agent's contextSchema has been applied.
 * @throws DroverError MISSING_CREDENTIAL, INVALID_INPUT
 */
export function reviveContext(
  context: Record<string, unknown>,
  env: Environment,
  schema: AgentDefinition["contextSchema"],
): Record<string, unknown> {
  const revived = revive(context, env) as Record<string, unknown>;
  if (schema === undefined || !("safeParse" in schema)) return revived;
  const result = interopSafeParse(schema as Parameters<typeof interopSafeParse>[0], revived);
  if (result.success) return result.data as Record<string, unknown>;
  const issues = result.error.issues.map((issue) => `${issue.path.join(".") || "context"}: ${issue.message}`);
  throw new DroverError("INVALID_INPUT", `The runtime context does not fit the agent: ${issues.join("; ")}.`);
}

function revive(value: unknown, env: Environment): unknown {
  if (Array.isArray(value)) return value.map((item) => revive(item, env));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only && typeof only[1] === "string") {
    if (only[0] === "$date") return date(only[1]);
    if (only[0] === "$credential") return credential(only[1], env);
  }
  return Object.fromEntries(entries.map(([key, item]) => [key, revive(item, env)]));
}

function date(text: string): Date {
  const parsed = new Date(text);
  if (!Number.isNaN(parsed.getTime())) return parsed;
  throw new DroverError("INVALID_INPUT", "A {$date} of the runtime context is not an ISO 8601 date.");
}

function credential(name: string, env: Environment): string {
  const variable = `DROVER_CREDENTIAL_${name}`;
  const value = env[variable];
  if (value) return value;
  throw new DroverError(
    "MISSING_CREDENTIAL",
    `The runtime context refers to the credential '${name}': set ${variable} in the worker's environment.`,
  );
}
