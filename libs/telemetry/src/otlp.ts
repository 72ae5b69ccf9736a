import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import {
  type SpanAttributes,
  TRACEPARENT,
  type TraceSpan,
  type Traces,
  type TracesOptions,
  traceparentOf,
} from "./traces.js";

const STOP_MS = 5000;

/** The OpenTelemetry SDK behind `Traces`. It is registered nowhere: two in one process do not touch each other. */
export function startOtlp({ endpoint, serviceName, version, hasContent = false }: TracesOptions): Traces {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, "")}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName, "service.version": version }),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1000 })],
  });
  const tracer = provider.getTracer("drover", version);
  return {
    hasContent,
    consume: ({ runId, traceparent }, name, attributes) =>
      startSpan(tracer, remote(traceparent ?? traceparentOf(runId)), name, SpanKind.CONSUMER, attributes),
    stop: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, STOP_MS);
      });
      // A collector that is away must not keep a worker from leaving.
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      clearTimeout(timer);
    },
  };
}

function remote(traceparent: string): Context {
  if (!TRACEPARENT.test(traceparent)) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = "00"] = traceparent.split("-");
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
  });
}

function startSpan(
  tracer: Tracer,
  parent: Context,
  name: string,
  kind: SpanKind,
  attributes: SpanAttributes,
): TraceSpan {
  const span: Span = tracer.startSpan(name, { kind, attributes }, parent);
  const within = trace.setSpan(parent, span);
  return {
    traceId: span.spanContext().traceId,
    child: (childName, childKind, more) =>
      startSpan(
        tracer,
        within,
        childName,
        childKind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL,
        more,
      ),
    set: (more) => void span.setAttributes(more),
    end(errorType) {
      if (errorType !== undefined) {
        span.setAttribute("error.type", errorType);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}
