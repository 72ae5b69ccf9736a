import type { IncomingHttpHeaders } from "node:http";

/** Which wire format a request speaks. */
export type ProviderApi = "openai-chat" | "openai-responses" | "anthropic-messages";

/** One request as the server received it. */
export interface ProviderRequest {
  /** 1 for the first request to this server. */
  number: number;
  /** Milliseconds since the epoch. */
  at: number;
  api: ProviderApi;
  path: string;
  headers: IncomingHttpHeaders;
  /** The parsed JSON body, as sent. */
  body: Record<string, unknown>;
  model: string;
  stream: boolean;
  /** The conversation in one shape for all formats; a tool's result has the role `tool`. */
  messages: { role: string; text: string }[];
  /** Names of the tools that the model may call. */
  tools: string[];
  /** True once the client has closed the connection before the answer was complete. */
  closedByClient: boolean;
}

export interface ScriptedToolCall {
  name: string;
  /** A string is sent as it is, so that a test can send arguments that are not JSON. */
  args: unknown;
  /** Default: `call_<request number>_<position>`. */
  id?: string;
}

export interface ProviderReply {
  text?: string;
  /** Anthropic only: a block of thinking in front of the text, with its signature. */
  thinking?: { text: string; signature: string };
  toolCalls?: ScriptedToolCall[];
  /**
   * Default: as the content suggests. `refusal` sends the text as each provider sends a refusal; Anthropic has no
   * content filter of its own, so `content_filter` is a refusal there.
   */
  finishReason?: "length" | "content_filter" | "refusal";
  /** Tokens; `input` counts the cached ones in. Default: 10 in, 5 out. */
  usage?: { input?: number; output?: number; cached?: number; reasoning?: number };
  /** An HTTP error instead of an answer. */
  status?: number;
  /** Sent as Retry-After: seconds, or an HTTP date. */
  retryAfter?: number | string;
  /** The provider's own name of the error. Default: the usual one for the status. */
  errorType?: string;
  errorMessage?: string;
  /** Further response headers. */
  headers?: Record<string, string>;
  /** The request is accepted and never answered. */
  hang?: boolean;
  /** Status 200 with a body (or a stream event) that is not JSON. */
  malformed?: boolean;
  /** Status 200 and this JSON instead of an answer of the right shape. */
  body?: unknown;
  /** The answer stops after this many stream events (or in the middle of a body that is not streamed). */
  breakStreamAfter?: number;
  /** How it stops. Default `reset`: the connection is torn down. `end` looks like a proper end to HTTP. */
  breakWith?: "reset" | "end" | "hang" | "error";
  /** Waits before the first byte. */
  delayMs?: number;
  /** Waits before each stream event. */
  eventDelayMs?: number;
}

/** Replies in the order of the requests, or a function of the request. A list that is used up answers 400. */
export type ProviderScript =
  | readonly ProviderReply[]
  | ((request: ProviderRequest) => ProviderReply | Promise<ProviderReply>);

/** What the server must know of one wire format. */
export interface Wire {
  api: ProviderApi;
  path: string;
  hasKey(headers: IncomingHttpHeaders): boolean;
  messages(body: Record<string, unknown>): { role: string; text: string }[];
  tools(body: Record<string, unknown>): string[];
  /** The body of an answer that is not streamed. */
  answer(reply: ProviderReply, request: ProviderRequest): unknown;
  /** The stream as frames of server-sent events. */
  frames(reply: ProviderReply, request: ProviderRequest): string[];
  error(status: number, message: string, type?: string): unknown;
  /** An error in the middle of a stream. */
  errorFrame(message: string, type?: string): string;
}
