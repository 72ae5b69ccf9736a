import { NO_REDACTION, type Redactor } from "@drover/contracts";
import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import type { Services } from "./services.js";

type Client = NonNullable<LangChainTracer["client"]>;

/** What of a traced run holds texts. All else are ids, times and names that LangSmith pairs runs by. */
const TEXTS = ["name", "inputs", "outputs", "error", "tags", "extra", "events", "serialized"] as const;
/** What is sent in the place of a part that could not be looked through. */
const WITHHELD = { withheld: "A PII rule could not look through this." };

/** LangChain traces where one of these is `true`. */
const SWITCHES = ["LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING"];

/**
 * The tracer of a run under PII rules where LangSmith's tracing is on. LangChain would add one of its own, which sends
 * what it is shown; beside this one it does not. Without rules that one is left to it.
 */
export function tracersFor({ redactor, env }: Pick<Services, "redactor" | "env">): BaseCallbackHandler[] {
  if (redactor === NO_REDACTION || !SWITCHES.some((name) => env[name] === "true")) return [];
  return [new LangChainTracer({ client: clientFor(redactor) })];
}

const clients = new WeakMap<Redactor, Client>();

/** LangSmith's client of this process, which redacts each run before it queues it. */
function clientFor(redactor: Redactor): Client {
  const known = clients.get(redactor);
  if (known) return known;
  const plain = new LangChainTracer().client as Client & object;
  const client: Client = Object.assign(Object.create(plain), {
    createRun: (run: Record<string, unknown>, ...rest: unknown[]) =>
      Reflect.apply(plain.createRun, plain, [redactedRun(run, redactor), ...rest]),
    updateRun: (id: string, run: Record<string, unknown>, ...rest: unknown[]) =>
      Reflect.apply(plain.updateRun, plain, [id, redactedRun(run, redactor), ...rest]),
  });
  clients.set(redactor, client);
  return client;
}

/** The place is `log`: nothing is loosened there by whose words a text is, and nothing is thrown. */
function redactedRun(run: Record<string, unknown>, redactor: Redactor): Record<string, unknown> {
  const texts = TEXTS.filter((field) => run[field] !== undefined).map((field) => [
    field,
    field === "serialized" ? undefined : redactedPart(run[field], redactor),
  ]);
  return { ...run, ...Object.fromEntries(texts) };
}

function redactedPart(part: unknown, redactor: Redactor): unknown {
  try {
    return redactor.value(part, "log");
  } catch {
    return typeof part === "string" ? WITHHELD.withheld : WITHHELD;
  }
}
