/** A process of its own for the tests: owns a Redis, says which, lives until it is told or killed. */
import { embeddedRedis, startRedis } from "@drover/embedded";

process.on("SIGINT", () => undefined);
process.on("disconnect", () => process.exit());
const root = process.argv[2];
const redis = root === undefined ? await startRedis({ stopTimeoutMs: 1_000 }) : await embeddedRedis({ root });
process.on("message", async () => {
  await redis.stop();
  process.send("stopped", () => process.exit());
});
const { url, port, pid, dir, ownsIt } = redis;
process.send({ url, port, pid, dir, ownsIt });
