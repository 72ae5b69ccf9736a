/**
 * A model provider on this machine, for tests: the real client packages talk to it over real HTTP. It speaks OpenAI's
 * chat completions, OpenAI's responses and Anthropic's messages, streamed and whole, and it fails as providers fail.
 * What it answers is scripted; what it received is recorded.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicMessages } from "./anthropic-messages.js";
import { isRecord } from "./json.js";
import { openAIChat } from "./openai-chat.js";
import { openAIResponses } from "./openai-responses.js";
import type { ProviderReply, ProviderRequest, ProviderScript, Wire } from "./reply.js";
import { send, sendJson } from "./send.js";

const WIRES: readonly Wire[] = [openAIChat, openAIResponses, anthropicMessages];

/** The key in `env`: long enough that a test can search logs and errors for it. */
const TEST_KEY = "sk-test-key-that-must-never-be-shown";

export interface ProviderServer {
  /** `http://127.0.0.1:<port>`: Anthropic's base URL. OpenAI's is this with `/v1`. */
  url: string;
  /** Every request that reached a known path with a key, in order. */
  requests: ProviderRequest[];
  /** The environment in which a process (or `resolveModel`) uses this server for both providers. */
  env: Record<"OPENAI_API_KEY" | "OPENAI_BASE_URL" | "ANTHROPIC_API_KEY" | "ANTHROPIC_BASE_URL", string>;
  /** Resolves when `count` requests have arrived since the start. */
  received(count: number): Promise<void>;
  /** Replaces the script; a list starts at its head with the next request. */
  use(script: ProviderScript): void;
  /** Tears down open connections, hanging ones too. */
  close(): Promise<void>;
}

async function readJson(incoming: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  try {
    const body: unknown = JSON.parse(Buffer.concat(parts).toString("utf8"));
    return isRecord(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** The wire format and body of a request; answers the request itself and returns undefined if it is no good. */
async function accept(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<{ wire: Wire; path: string; body: Record<string, unknown> } | undefined> {
  const path = (incoming.url ?? "").split("?")[0] ?? "";
  const wire = WIRES.find((candidate) => candidate.path === path);
  const body = await readJson(incoming);
  if (wire === undefined) sendJson(response, 404, openAIChat.error(404, `Unknown path ${path}`));
  else if (body === undefined) sendJson(response, 400, wire.error(400, "The body is not a JSON object."));
  else if (!wire.hasKey(incoming.headers)) sendJson(response, 401, wire.error(401, "You sent no API key."));
  else return { wire, path, body };
  return undefined;
}

/** Starts a server on a free port of the loopback interface. */
export async function startProviderServer(options: { script: ProviderScript }): Promise<ProviderServer> {
  const requests: ProviderRequest[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let script = options.script;
  let used = 0;

  const nextReply = async (request: ProviderRequest): Promise<ProviderReply> => {
    if (typeof script === "function") return script(request);
    return (
      script[used++] ?? { status: 400, errorMessage: `No reply in the script for request ${request.number}.` }
    );
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const accepted = await accept(incoming, response);
    if (accepted === undefined) return;
    const { wire, path, body } = accepted;
    const request: ProviderRequest = {
      number: requests.length + 1,
      at: Date.now(),
      api: wire.api,
      path,
      headers: incoming.headers,
      body,
      model: String(body.model),
      stream: body.stream === true,
      messages: wire.messages(body),
      tools: wire.tools(body),
      closedByClient: false,
    };
    requests.push(request);
    for (const waiter of waiting) if (requests.length >= waiter.count) waiter.resolve();
    await send(response, wire, request, nextReply(request));
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, openAIChat.error(400, `The script threw: ${String(error)}`));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    requests,
    env: {
      OPENAI_API_KEY: TEST_KEY,
      OPENAI_BASE_URL: `${url}/v1`,
      ANTHROPIC_API_KEY: TEST_KEY,
      ANTHROPIC_BASE_URL: url,
    },
    received: (count) =>
      requests.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    use(next) {
      script = next;
      used = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
