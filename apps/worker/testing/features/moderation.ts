import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** OpenAI's moderation endpoint, which flags what says "bad". */
export interface ModerationServer {
  /** With `/v1`. */
  url: string;
  /** The moderation model of each request, in their order. */
  models: string[];
  close(): Promise<void>;
}

export async function startModerationServer(): Promise<ModerationServer> {
  const models: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => {
      text += part;
    });
    request.on("end", () => {
      models.push((JSON.parse(text) as { model: string }).model);
      const flagged = text.includes("bad");
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          id: "m",
          model: "m",
          results: [{ flagged, categories: { hate: flagged }, category_scores: { hate: 0.9 } }],
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    models,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
