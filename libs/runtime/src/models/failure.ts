import { DroverError, type ErrorCode } from "@drover/contracts";
import { getRetryable } from "@langchain/core/errors";
import type { EndReason } from "./answer.js";
import { causesOf, type ErrorFacts, factsOf } from "./error-facts.js";
import { httpFailure, overflowFailure } from "./http-failure.js";

export interface ModelFailure {
  code: ErrorCode;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  /** The provider's own wish: wait at least so long. Only where `retryable`. */
  retryAfterMs?: number;
  /** What happened and what to do. Holds no key, no text of the conversation and no body of the provider's. */
  message: string;
  /** The HTTP status, where there was one. */
  status?: number;
  /** Set where the client throws for an answer that ended early: how it ended. */
  endedBy?: Exclude<EndReason, "completed">;
}

/**
 * What an error means that a model call threw. Retryable: 408, 409, 429, 5xx, timeouts, network errors, answers
 * that cannot be read. Not: other statuses, a used-up quota, a context overflow, an abort, what is not recognised.
 * LangGraph's interrupts and commands travel as errors too and are no failures: let them pass before asking here.
 * Who aborted by a signal of their own asks that signal why: what arrives here differs from client to client.
 */
export function classifyModelError(error: unknown): ModelFailure {
  const chain = causesOf(error);
  const systemCode = chain.map((cause) => factsOf(cause).systemCode).find((code) => code !== undefined);
  for (const cause of chain) {
    if (cause instanceof DroverError) return ofDrover(cause);
    const facts = factsOf(cause);
    const failure = ofClient(facts) ?? httpFailure(facts) ?? ofNetwork(facts, systemCode);
    if (failure !== undefined) return failure;
  }
  return chain.map(unreadable).find((failure) => failure !== undefined) ?? unknown(chain);
}

/** An error that was classified before may carry the verdict; it holds under what wrapped it since. */
function ofDrover(error: DroverError & { retryable?: unknown; retryAfterMs?: unknown }): ModelFailure {
  const { code, message, retryable, retryAfterMs } = error;
  return {
    code,
    retryable: typeof retryable === "boolean" ? retryable : code === "MODEL_BAD_RESPONSE",
    message,
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
  };
}

/** The clients' and LangChain's own classes; some survive only as a name, some only as a class. */
function ofClient({ className, name, message }: ErrorFacts): ModelFailure | undefined {
  const is = (...names: string[]) => names.includes(className) || names.includes(name);
  if (is("ContextOverflowError")) return overflowFailure();
  if (is("APIConnectionTimeoutError", "TimeoutError")) return timedOut();
  const aborted = /^(AbortError|Aborted|Request was aborted\.)$/.test(message);
  if (aborted || is("AbortError", "APIUserAbortError", "ModelAbortError")) {
    return { code: "CANCELLED", retryable: false, message: "The call to the model was aborted." };
  }
  if (is("ModelRefusalError")) return ended("refused", "The model refused to answer");
  if (is("ContentFilterFinishReasonError")) {
    return ended("content_filter", "The provider's content filter stopped the answer");
  }
  if (is("LengthFinishReasonError")) {
    return ended(
      "truncated",
      "The answer reached its limit of tokens before it was complete: raise maxTokens",
    );
  }
  return undefined;
}

function ended(endedBy: Exclude<EndReason, "completed">, say: string): ModelFailure {
  return { code: "MODEL_BAD_RESPONSE", retryable: false, message: `${say}.`, endedBy };
}

function timedOut(): ModelFailure {
  return {
    code: "MODEL_TIMEOUT",
    retryable: true,
    message:
      "The model's provider did not answer in time: raise the model's option timeout (milliseconds) if it needs longer.",
  };
}

/** @param systemCode the first in the whole chain: what wraps it only says that fetch failed. */
function ofNetwork(
  { className, message, systemCode: own }: ErrorFacts,
  systemCode: string | undefined,
): ModelFailure | undefined {
  const isNetwork =
    own !== undefined ||
    className === "APIConnectionError" ||
    (className === "TypeError" && /^(fetch failed|terminated)$/.test(message));
  if (!isNetwork) return undefined;
  if (systemCode !== undefined && /TIMEDOUT|TIMEOUT|ECONNABORTED/.test(systemCode)) return timedOut();
  const detail = systemCode === undefined ? "" : ` (${systemCode})`;
  return {
    code: "MODEL_ERROR",
    retryable: true,
    message: `The connection to the model's provider failed${detail}: check the base URL and the network.`,
  };
}

/**
 * Neither client checks what it parsed: a page instead of JSON, or JSON of another shape, shows as a SyntaxError or
 * a TypeError from inside LangChain. V8's message quotes the text that it could not parse, so it is not repeated.
 */
function unreadable(cause: object): ModelFailure | undefined {
  const isUnreadable =
    cause instanceof SyntaxError ||
    cause instanceof TypeError ||
    (cause instanceof Error && cause.message === "Received empty response from chat model call.");
  if (!isUnreadable) return undefined;
  return {
    code: "MODEL_BAD_RESPONSE",
    retryable: true,
    message:
      "The model's provider sent an answer that is not in its format: check that the base URL is that of the API.",
  };
}

function unknown(chain: readonly object[]): ModelFailure {
  const [outermost] = chain;
  const innermost = chain.at(-1);
  const kind = innermost === undefined ? "" : ` (${factsOf(innermost).className})`;
  return {
    code: "MODEL_ERROR",
    retryable: getRetryable(outermost) ?? false,
    message: `The call to the model failed${kind}; the worker's log of this run says more.`,
  };
}
