import { AsyncLocalStorage } from "node:async_hooks";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { BaseLLM } from "@langchain/core/language_models/llms";
import { StructuredTool } from "@langchain/core/tools";
import { getConfig } from "@langchain/langgraph";
import { RUN_KEY, type RunContext } from "./run-context.js";

type Method = (...args: unknown[]) => unknown;

const gate = new AsyncLocalStorage<true>();
const toolAtGate = new AsyncLocalStorage<{ tool: object; isSpent: boolean }>();

/** Calls a model for which the one who calls it has taken a unit, and whose messages it has redacted. */
export const pastTheGate = <T>(call: () => T): T => gate.run(true, call);

/** Calls a tool once for which the one who calls it has taken a unit; for what is called inside of it nobody has. */
export const toolPastTheGate = <T>(tool: object, call: () => T): T =>
  toolAtGate.run({ tool, isSpent: false }, call);

let isInstalled = false;

/**
 * Gives models and tools a gate of their own while they work for a run, whoever calls them: an agent inside of a tool
 * and a node of LangGraph's own have none. A unit is taken for each request and each call of a tool, and what a model
 * is sent is redacted. These are the methods through which LangChain calls them; a test guards that.
 */
export function gateEveryCall(): void {
  if (isInstalled) return;
  isInstalled = true;
  for (const models of [BaseChatModel.prototype, BaseLLM.prototype]) {
    replace(models, "_generateUncached", gated);
    replace(models, "_streamIterator", gatedStream);
  }
  replace(BaseChatModel.prototype, "_streamChatModelEvents", gatedStream);
  const { invoke } = StructuredTool.prototype;
  StructuredTool.prototype.invoke = async function (...args) {
    const pass = toolAtGate.getStore();
    if (pass?.tool === this && !pass.isSpent) pass.isSpent = true;
    else await runHere()?.takeToolUnit(this.name);
    return Reflect.apply(invoke, this, args);
  };
}

function replace(
  owner: object,
  name: string,
  gatedBy: (run: RunContext, call: Method, first: unknown) => unknown,
): void {
  const original = Reflect.get(owner, name) as Method;
  Reflect.set(owner, name, function (this: unknown, first: unknown, ...rest: unknown[]) {
    const run = gate.getStore() ? undefined : runHere();
    if (run === undefined) return Reflect.apply(original, this, [first, ...rest]);
    return gatedBy(run, (sent) => Reflect.apply(original, this, [sent, ...rest]), first);
  });
}

/** One list of messages is one request. */
async function gated(run: RunContext, call: Method, lists: unknown): Promise<unknown> {
  for (const _ of lists as unknown[]) await run.takeModelUnit();
  return pastTheGate(() => call(run.services.redactor.value(lists, "input")));
}

async function* gatedStream(run: RunContext, call: Method, messages: unknown): AsyncGenerator<unknown> {
  await run.takeModelUnit();
  const chunks = call(run.services.redactor.value(messages, "input")) as AsyncGenerator<unknown>;
  try {
    for (;;) {
      const { value, done } = await pastTheGate(() => chunks.next());
      if (done) return;
      yield value;
    }
  } finally {
    await chunks.return(undefined);
  }
}

function runHere(): RunContext | undefined {
  try {
    return getConfig()?.configurable?.[RUN_KEY] as RunContext | undefined;
  } catch {
    // Outside of a graph there is no config.
    return undefined;
  }
}
