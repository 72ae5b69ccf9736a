import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager, CallbackManagerForChainRun } from "@langchain/core/callbacks/manager";

type Manager = Pick<
  CallbackManager,
  "handlers" | "inheritableHandlers" | "tags" | "inheritableTags" | "metadata" | "inheritableMetadata"
>;

/**
 * Hands what listens to models and tools down a graph. LangChain's own manager, as soon as anybody listens, copies
 * itself for every step of a graph, key by key, and tells each step's start and end to nobody: a seventh of the time
 * that a graph takes. This one copies itself at once and passes by the steps while only models and tools are listened
 * to; with any other handler on it (a stream of tokens, a tracer) it does what LangChain's does.
 */
export class ModelCallbacks extends CallbackManager {
  static of(handlers: readonly BaseCallbackHandler[]): ModelCallbacks {
    const callbacks = new ModelCallbacks();
    for (const handler of handlers) callbacks.addHandler(handler, true);
    return callbacks;
  }

  static #copyOf(from: Manager, parentRunId: string | undefined): ModelCallbacks {
    return Object.assign(new ModelCallbacks(parentRunId), {
      handlers: [...from.handlers],
      inheritableHandlers: [...from.inheritableHandlers],
      tags: [...from.tags],
      inheritableTags: [...from.inheritableTags],
      metadata: { ...from.metadata },
      inheritableMetadata: { ...from.inheritableMetadata },
    });
  }

  /** What a step hands to those below it: what it inherited itself. */
  static childOf(from: Manager, parentRunId: string, tag: string | undefined): ModelCallbacks {
    const { inheritableHandlers, inheritableTags, inheritableMetadata } = from;
    const child = ModelCallbacks.#copyOf(
      { ...from, handlers: inheritableHandlers, tags: inheritableTags, metadata: inheritableMetadata },
      parentRunId,
    );
    if (tag) child.addTags([tag], false);
    return child;
  }

  override copy(additional: BaseCallbackHandler[] = [], inherit = true): CallbackManager {
    if (additional.length > 0) return super.copy(additional, inherit);
    return ModelCallbacks.#copyOf(this, this._parentRunId);
  }

  override async handleChainStart(
    ...args: Parameters<CallbackManager["handleChainStart"]>
  ): Promise<CallbackManagerForChainRun> {
    if (this.handlers.some((handler) => !handler.ignoreChain)) return super.handleChainStart(...args);
    const [, , runId = this._parentRunId ?? ""] = args;
    return new PassedStep(
      runId,
      this.handlers,
      this.inheritableHandlers,
      this.tags,
      this.inheritableTags,
      this.metadata,
      this.inheritableMetadata,
      this._parentRunId,
    );
  }
}

/** A step of which nobody is told. */
class PassedStep extends CallbackManagerForChainRun {
  override getChild(tag?: string): CallbackManager {
    const { handlers, inheritableHandlers, tags, inheritableTags, metadata, inheritableMetadata } = this;
    const own = { handlers, inheritableHandlers, tags, inheritableTags, metadata, inheritableMetadata };
    return ModelCallbacks.childOf(own, this.runId, tag);
  }

  override async handleChainEnd(): Promise<void> {}

  override async handleChainError(): Promise<void> {}
}
