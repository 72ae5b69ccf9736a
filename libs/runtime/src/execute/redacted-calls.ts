import { AsyncLocalStorage } from "node:async_hooks";
import { NO_REDACTION, type Redactor } from "@drover/contracts";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { BaseLLM } from "@langchain/core/language_models/llms";
import { getConfig } from "@langchain/langgraph";
import { RUN_KEY, type RunContext } from "./run-context.js";

const atGate = new AsyncLocalStorage<true>();

/** Calls a model whose messages were redacted by the one who calls it: they are not looked through once more. */
export const withRedactedMessages = <T>(call: () => T): T => atGate.run(true, call);

let isInstalled = false;

/**
 * Makes models redact what they are sent while they work for a run, whoever calls them: an agent inside of a tool and a
 * node of LangGraph's own have no gate. These are the methods through which LangChain's models are called; a test
 * guards that.
 */
export function redactEveryModelCall(): void {
  if (isInstalled) return;
  isInstalled = true;
  for (const models of [BaseChatModel.prototype, BaseLLM.prototype]) {
    for (const method of ["_generateUncached", "_streamIterator"]) redactFirst(models, method);
  }
  redactFirst(BaseChatModel.prototype, "streamEvents");
}

/** Has the first argument of a method redacted. */
function redactFirst(owner: object, method: string): void {
  const original = Reflect.get(owner, method) as (...args: unknown[]) => unknown;
  Reflect.set(owner, method, function (this: unknown, first: unknown, ...rest: unknown[]) {
    return Reflect.apply(original, this, [redactorHere()?.value(first, "input") ?? first, ...rest]);
  });
}

/** The redactor of the run that this code works for; undefined where nothing is left to do. */
function redactorHere(): Redactor | undefined {
  if (atGate.getStore()) return undefined;
  const redactor = runHere()?.services.redactor;
  return redactor === NO_REDACTION ? undefined : redactor;
}

function runHere(): RunContext | undefined {
  try {
    return getConfig()?.configurable?.[RUN_KEY] as RunContext | undefined;
  } catch {
    // Outside of a graph there is no config.
    return undefined;
  }
}
