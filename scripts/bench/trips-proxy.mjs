/** The child that stands between all processes and Redis and counts their round trips. */
import { connect, createServer } from "node:net";
import { serve } from "./child.mjs";

const { hostname, port } = new URL(process.env.REDIS_URL);
let trips = 0;

const server = createServer({ noDelay: true }, (client) => {
  const redis = connect({ host: hostname, port: Number(port), noDelay: true });
  let isAnswered = true;
  client.on("data", (bytes) => {
    // What follows before the answer to what went before belongs to the same flight: nobody waited for it.
    if (isAnswered) trips += 1;
    isAnswered = false;
    redis.write(bytes);
  });
  redis.on("data", (bytes) => {
    isAnswered = true;
    client.write(bytes);
  });
  for (const socket of [client, redis]) {
    socket.on("error", () => {});
    socket.on("close", () => {
      client.destroy();
      redis.destroy();
    });
  }
});

server.listen(0, "127.0.0.1", () => {
  serve({ port: server.address().port }, { trips: () => trips });
});
