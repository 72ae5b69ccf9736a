import { AsyncLocalStorage } from "node:async_hooks";
import { NO_REDACTION, type Redactor } from "@drover/contracts";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { getConfig } from "@langchain/langgraph";
import { RUN_KEY, type RunContext } from "./run-context.js";

const atGate = new AsyncLocalStorage<true>();

/** Calls a model whose messages were redacted by the one who calls it: they are not looked through once more. */
export const withRedactedMessages = <T>(call: () => T): T => atGate.run(true, call);

let isInstalled = false;

/**
 * Makes chat models redact what they are sent while they work for a run, whoever calls them: an agent inside of a
 * tool and a node of LangGraph's own have no gate. The two methods are those through which every call of a chat model
 * goes; a test guards that.
 */
export function redactEveryModelCall(): void {
  if (isInstalled) return;
  isInstalled = true;
  const models = BaseChatModel.prototype;
  const { _generateUncached: generate, _streamIterator: stream } = models;
  models._generateUncached = function (messages, ...rest) {
    return generate.call(this, redactorHere()?.value(messages, "input") ?? messages, ...rest);
  };
  models._streamIterator = function (input, ...rest) {
    return stream.call(this, redactorHere()?.value(input, "input") ?? input, ...rest);
  };
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
