import { afterEach, describe, expect, it } from "vitest";
import { type ProviderServer, startProviderServer } from "./provider-server.js";
import type { ProviderScript } from "./reply.js";

/** The real clients test the formats, in ../models; here is what they never send. */
let server: ProviderServer;
afterEach(() => server.close());

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.text() };
}

const start = async (script: ProviderScript) => {
  server = await startProviderServer({ script });
};
const PATHS = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];
const KEY = { authorization: "Bearer k", "x-api-key": "k" };

describe("a provider server", () => {
  it.each(PATHS)("wants a key and JSON on %s, and knows no other path", async (path) => {
    await start([{ text: "ok" }]);
    expect((await post(path, { model: "m" })).status).toBe(401);
    expect((await post(path, "{", KEY)).status).toBe(400);
    expect((await post("/v1/embeddings", {}, KEY)).status).toBe(404);
    expect(server.requests).toHaveLength(0);
    expect((await post(path, { model: "m" }, KEY)).status).toBe(200);
    expect(server.requests).toHaveLength(1);
  });

  it("answers 400, which no client retries, when the script is at its end or throws", async () => {
    await start([{ text: "first" }]);
    await post("/v1/messages", { model: "m" }, KEY);
    expect(await post("/v1/messages", { model: "m" }, KEY)).toMatchObject({
      status: 400,
      body: expect.stringContaining("No reply in the script for request 2"),
    });
    server.use(() => {
      throw new Error("a wrong test");
    });
    expect((await post("/v1/messages", { model: "m" }, KEY)).body).toContain("a wrong test");
  });

  it("asks a function for each reply, with the request in one shape for all formats", async () => {
    await start((request) => ({
      text: request.messages.map(({ role, text }) => `${role}=${text}`).join(";"),
    }));
    const chat = [
      { role: "system", content: "s" },
      { role: "user", content: [{ type: "text", text: "u" }] },
      { role: "tool", tool_call_id: "1", content: "t" },
    ];
    const said = "system=s;user=u;tool=t";
    expect((await post("/v1/chat/completions", { model: "m", messages: chat }, KEY)).body).toContain(said);
    const messages = [
      { role: "user", content: "u" },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: "t" }] },
    ];
    expect((await post("/v1/messages", { model: "m", system: "s", messages }, KEY)).body).toContain(said);
    const input = [
      { role: "system", content: "s" },
      { role: "user", content: [{ type: "input_text", text: "u" }] },
      { type: "function_call_output", call_id: "1", output: "t" },
    ];
    expect((await post("/v1/responses", { model: "m", input }, KEY)).body).toContain(said);
  });

  it("says when so many requests have come", async () => {
    await start(() => ({ text: "ok" }));
    const two = server.received(2).then(() => server.requests.length);
    await post("/v1/messages", { model: "m" }, KEY);
    await post("/v1/messages", { model: "m" }, KEY);
    expect(await two).toBe(2);
    await server.received(1);
  });

  it("closes while a request hangs", async () => {
    await start([{ hang: true }]);
    const hanging = post("/v1/messages", { model: "m" }, KEY);
    await server.received(1);
    const closed = server.close();
    await expect(hanging).rejects.toThrow();
    await closed;
  });
});
