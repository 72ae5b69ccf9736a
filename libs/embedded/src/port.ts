import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range from which Linux and macOS take the ports of outgoing connections, which could take ours. */
const LOWEST = 20_000;
const HIGHEST = 29_999;

/** How far a Redis Cluster node's bus port lies above its own. */
const BUS_OFFSET = 10_000;

/**
 * A port of 127.0.0.1 on which nobody listens at this moment; with `withBus` the cluster bus port that belongs to
 * it is free as well. Somebody else may take it before it is used: the caller tries again with another.
 */
export async function freePort(options: { withBus?: boolean } = {}): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if ((await isFree(port)) && (!options.withBus || (await isFree(port + BUS_OFFSET)))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
