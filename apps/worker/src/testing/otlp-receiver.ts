import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as it came over the wire. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  attributes: Record<string, string | number | boolean>;
  service: string;
  failed: boolean;
}

/** A collector that takes OTLP over HTTP as JSON, and keeps what it gets. */
export interface OtlpReceiver {
  url: string;
  spans: readonly ReceivedSpan[];
  /** Everything that came, as text: for tests that look for what must not be there. */
  text(): string;
  close(): Promise<void>;
}

interface Value {
  stringValue?: string;
  intValue?: string | number;
  doubleValue?: number;
  boolValue?: boolean;
}
interface Attribute {
  key: string;
  value: Value;
}
interface Payload {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: (Pick<ReceivedSpan, "traceId" | "spanId" | "name" | "kind"> & {
        parentSpanId?: string;
        attributes: Attribute[];
        status?: { code?: number };
      })[];
    }[];
  }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    if (request.url !== "/v1/traces" || request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    bodies.push(body);
    for (const { resource, scopeSpans } of (JSON.parse(body) as Payload).resourceSpans) {
      const service = String(plain(resource.attributes)["service.name"]);
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({
          ...span,
          parentSpanId: span.parentSpanId ?? "",
          attributes: plain(span.attributes),
          service,
          failed: span.status?.code === 2,
        });
      }
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => bodies.join("\n"),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function plain(attributes: Attribute[]): ReceivedSpan["attributes"] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  );
}
