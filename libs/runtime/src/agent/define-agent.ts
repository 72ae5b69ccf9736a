import { DroverError, nameSchema, parseOrThrow } from "@drover/contracts";
import type { SystemMessage } from "@langchain/core/messages";
import type { ClientTool, ServerTool } from "@langchain/core/tools";
import type { CreateAgentParams } from "langchain";
import { z } from "zod";
import { contradictions } from "../policy/contradictions.js";
import { type EffectivePolicy, type Policy, parsePolicy } from "../policy/policy.js";
import { todoListOf } from "../policy/todo-list.js";
import { isModelSpec, type ModelSpec } from "./model-spec.js";
import { type MiddlewareEntry, middlewareOf, placeOf } from "./placement.js";

/** Marks a definition across copies of this module: a project may have its own. */
const BRAND = Symbol.for("drover.agent");

export interface AgentSpec {
  /** 1 to 64 letters, digits, '_', '.' or '-'; the same as its key in langgraph.json. */
  name: string;
  /** Runs stay bound to the version that started them. Default "1". */
  version?: string;
  description?: string;
  model: ModelSpec;
  /** Asked in order, each with its own retries, once the model before has failed. */
  fallbacks?: ModelSpec[];
  systemPrompt?: string | SystemMessage;
  tools?: (ClientTool | ServerTool)[];
  contextSchema?: CreateAgentParams["contextSchema"] | z.ZodObject;
  stateSchema?: object;
  responseFormat?: object;
  policy?: Policy;
  middleware?: MiddlewareEntry[];
  /** What the run's output is, from the graph's last values. Default: see execute/output.ts. */
  output?: (values: Record<string, unknown>) => unknown;
}

/** A checked definition. Made by `defineAgent` only. */
export interface AgentDefinition extends Omit<AgentSpec, "policy"> {
  readonly version: string;
  /** What the agent itself says. */
  readonly declared: Policy;
  /** With every default in its place, and under the fleet's policy once it is loaded. */
  readonly policy: EffectivePolicy;
}

const is = <T>(test: (value: unknown) => boolean, message: string) => z.custom<T>(test, message);
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isToolLike = (value: unknown) =>
  isObject(value) && (("name" in value && typeof value.name === "string") || "type" in value);

const specSchema = z.strictObject({
  name: nameSchema,
  version: z.string().min(1).max(64).default("1"),
  description: z.string().max(10_000).optional(),
  model: is<ModelSpec>(isModelSpec, "is 'provider:model', { model, ...options } or a chat model's instance"),
  fallbacks: z
    .array(
      is<ModelSpec>(isModelSpec, "is 'provider:model', { model, ...options } or a chat model's instance"),
    )
    .optional(),
  systemPrompt: z.union([z.string(), is<SystemMessage>(isObject, "is a text or a SystemMessage")]).optional(),
  tools: z.array(is<ClientTool | ServerTool>(isToolLike, "is a tool: use tool() of langchain")).optional(),
  contextSchema: is<NonNullable<AgentSpec["contextSchema"]>>(isObject, "is a zod object").optional(),
  stateSchema: is<object>(isObject, "is a zod object or a StateSchema").optional(),
  responseFormat: is<object>(isObject, "is a schema, toolStrategy() or providerStrategy()").optional(),
  policy: z.unknown().optional(),
  middleware: z
    .array(
      is<MiddlewareEntry>(
        (value) => isObject(value) && placeOf(value) !== undefined,
        "is a middleware of langchain, or { place, middleware } with one of the places",
      ),
    )
    .optional(),
  output: is<NonNullable<AgentSpec["output"]>>(
    (value) => typeof value === "function",
    "is a function of the graph's last values",
  ).optional(),
});

/**
 * Defines an agent that Drover runs under a policy. Checked at once: throws INVALID_AGENT or INVALID_POLICY with
 * the path of every wrong key. Nothing is built and no model is called here.
 */
export function defineAgent(spec: AgentSpec): AgentDefinition {
  const { policy: _, ...rest } = parseOrThrow(specSchema, spec, "defineAgent", "INVALID_AGENT");
  const declared = spec.policy ?? {};
  const definition = { ...rest, declared, policy: parsePolicy(declared) } as AgentDefinition;
  assertDistinct(toolNamesOf(definition));
  return withPolicy(checkedAgainst(definition), definition.policy);
}

/** The definition, if its policy contradicts neither itself nor the agent; throws INVALID_POLICY. */
export function checkedAgainst(definition: AgentDefinition): AgentDefinition {
  const reasons = contradictions({
    policy: definition.policy,
    tools: toolNamesOf(definition),
    middleware: (definition.middleware ?? []).map((entry) => middlewareOf(entry).name),
  });
  if (reasons.length === 0) return definition;
  throw new DroverError("INVALID_POLICY", `policy of agent '${definition.name}': ${reasons.join("; ")}.`);
}

/** The same definition under another policy. */
export function withPolicy(definition: AgentDefinition, policy: EffectivePolicy): AgentDefinition {
  const made = { ...definition, policy };
  Object.defineProperty(made, BRAND, { value: true });
  return Object.freeze(made);
}

export function isAgentDefinition(value: unknown): value is AgentDefinition {
  return isObject(value) && (value as { [BRAND]?: unknown })[BRAND] === true;
}

type WithTools = Pick<AgentDefinition, "tools" | "middleware" | "policy">;

/** The names of the agent's client-side tools, those of its policy and middleware included. */
export function toolNamesOf({ tools = [], middleware = [], policy }: WithTools): string[] {
  const all = [
    ...tools,
    ...(todoListOf(policy)?.tools ?? []),
    ...middleware.map(middlewareOf).flatMap((entry) => [...(entry.tools ?? [])]),
  ];
  return all.flatMap((tool) => ("name" in tool && typeof tool.name === "string" ? [tool.name] : []));
}

function assertDistinct(names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  throw new DroverError("INVALID_AGENT", `defineAgent: tools: two tools are named '${twice}'; rename one.`);
}
