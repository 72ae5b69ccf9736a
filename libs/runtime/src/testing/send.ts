import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProviderReply, ProviderRequest, Wire } from "./reply.js";

const ERROR_MESSAGES: Record<number, string> = {
  401: "Incorrect API key provided.",
  429: "Rate limit reached.",
  500: "The server had an error.",
  529: "Overloaded",
};

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function headersOf(reply: ProviderReply): Record<string, string> {
  const after = reply.retryAfter === undefined ? {} : { "retry-after": String(reply.retryAfter) };
  return { ...after, ...reply.headers };
}

/** With the text in it, as what a provider breaks off has, so that a test can look where it ends up. */
function halfJson(reply: ProviderReply): string {
  return `{"choices": [{"message": ${reply.text ?? ""}`;
}

async function sendStream(
  response: ServerResponse,
  wire: Wire,
  reply: ProviderReply,
  request: ProviderRequest,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", ...headersOf(reply) });
  response.flushHeaders();
  const frames = wire.frames(reply, request);
  if (reply.malformed) frames.splice(1, 0, `event: message_start\ndata: ${halfJson(reply)}\n\n`);
  const cut = reply.breakStreamAfter ?? Number.POSITIVE_INFINITY;
  for (const [index, frame] of frames.entries()) {
    if (index >= cut) return breakOff(response, wire, reply);
    if (reply.eventDelayMs !== undefined) await sleep(reply.eventDelayMs);
    if (response.destroyed) return;
    // Waiting for the write keeps a torn connection from taking back what was sent before it.
    await new Promise<void>((resolve) => response.write(frame, () => resolve()));
  }
  response.end();
}

function breakOff(response: ServerResponse, wire: Wire, reply: ProviderReply): void {
  switch (reply.breakWith ?? "reset") {
    case "hang":
      return;
    case "end":
      response.end();
      return;
    case "error":
      response.end(wire.errorFrame(reply.errorMessage ?? "The server had an error.", reply.errorType));
      return;
    case "reset":
      response.destroy();
  }
}

function sendWhole(response: ServerResponse, wire: Wire, reply: ProviderReply, body: unknown): void {
  if (reply.breakStreamAfter === undefined) {
    sendJson(response, 200, body, headersOf(reply));
    return;
  }
  const text = JSON.stringify(body);
  response.writeHead(200, { "content-type": "application/json" });
  response.write(text.slice(0, Math.floor(text.length / 2)), () => breakOff(response, wire, reply));
}

/** Sends one scripted reply, or fails as it says, and notes on the request whether the client went away first. */
export async function send(
  response: ServerResponse,
  wire: Wire,
  request: ProviderRequest,
  pending: Promise<ProviderReply>,
): Promise<void> {
  let tornDownHere = false;
  response.once("close", () => {
    request.closedByClient = !response.writableEnded && !tornDownHere;
  });
  const reply = await pending;
  tornDownHere = reply.breakStreamAfter !== undefined && (reply.breakWith ?? "reset") === "reset";
  if (reply.delayMs !== undefined) await sleep(reply.delayMs);
  if (reply.hang || response.destroyed) return;
  if (reply.status !== undefined && reply.status !== 200) {
    const message = reply.errorMessage ?? ERROR_MESSAGES[reply.status] ?? "The request failed.";
    const body = wire.error(reply.status, message, reply.errorType);
    return sendJson(response, reply.status, body, headersOf(reply));
  }
  if (reply.body !== undefined) return sendJson(response, 200, reply.body, headersOf(reply));
  if (request.stream) return sendStream(response, wire, reply, request);
  if (reply.malformed) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(halfJson(reply));
    return;
  }
  sendWhole(response, wire, reply, wire.answer(reply, request));
}
