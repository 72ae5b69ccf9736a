import { createHash } from "node:crypto";

export type SpanAttributes = Record<string, string | number | boolean>;

/** A piece of work in a trace. What is set after its end is not kept. */
export interface TraceSpan {
  /** 32 hexadecimal digits: every log line of the run carries it. */
  readonly traceId: string;
  child(name: string, kind: "internal" | "client", attributes: SpanAttributes): TraceSpan;
  set(attributes: SpanAttributes): void;
  /** @param errorType what went wrong, by its code; left out where nothing did */
  end(errorType?: string): void;
}

export interface Traces {
  /** Whether what people and models say may be put into spans, redacted. */
  readonly hasContent: boolean;
  /** The work on one delivery of the queue, as a part of the trace that its run was accepted in. */
  consume(
    run: { runId: string; traceparent?: string | undefined },
    name: string,
    attributes: SpanAttributes,
  ): TraceSpan;
  /** Sends what was not sent yet, for at most five seconds. */
  stop(): Promise<void>;
}

export interface TracesOptions {
  /** Where the collector takes OTLP over HTTP, without `/v1/traces`. */
  endpoint: string;
  serviceName: string;
  version: string;
  /** Default false. */
  hasContent?: boolean;
}

/**
 * Sends traces to a collector. What it needs is loaded here and not before: where no endpoint is set, tracing costs
 * nothing.
 */
export async function startTraces(options: TracesOptions): Promise<Traces> {
  const { startOtlp } = await import("./otlp.js");
  return startOtlp(options);
}

/** A W3C trace context, version 00. */
export const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * The context that a run has which nobody gave one: made from its id, so that all its activations, on whichever worker,
 * are in one trace.
 */
export function traceparentOf(runId: string): string {
  const digits = createHash("sha256").update(runId).digest("hex");
  return `00-${digits.slice(0, 32)}-${digits.slice(32, 48)}-01`;
}
