import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { legible } from "./everything.js";

/** A server that takes everything that is sent to it: webhooks, traces. */
export interface Receiver {
  url: string;
  /** What came to paths that begin like this, as text. */
  received(path: string): string[];
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const came: { path: string; text: string }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const headers = JSON.stringify(request.headers);
      came.push({
        path: request.url ?? "",
        text: `${request.url} ${headers} ${legible(Buffer.concat(parts))}`,
      });
      // LangSmith's client asks what the server can take: nothing compressed.
      response.writeHead(200, { "content-type": "application/json" }).end('{"instance_flags": {}}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (path) => came.filter((one) => one.path.startsWith(path)).map(({ text }) => text),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
