import { startRedis } from "@drover/embedded";
import { Redis } from "ioredis";
// Not among the exports of @drover/state: no part of Drover needs it.
import { benchCheckpoints } from "../../libs/state/dist/checkpoints/bench.js";
import { withCleanUp } from "./clean-up.mjs";
import { rounded } from "./statistics.mjs";

export async function measure(say) {
  return withCleanUp(async (later) => {
    const redis = await startRedis();
    later(() => redis.stop());
    say("threads of 10, 100 and 300 turns");
    return benchCheckpoints(await withoutPassword(redis));
  });
}

/** The connection through the delaying proxy has none. */
async function withoutPassword({ url, port }) {
  const client = new Redis(url);
  await client.config("SET", "requirepass", "");
  client.disconnect();
  return `redis://127.0.0.1:${port}`;
}

export function rows({ turns }) {
  const lengths = Object.keys(turns);
  return [
    ["figure", ...lengths.map((length) => `${length} turns`)],
    ...Object.keys(turns[lengths[0]]).map((name) => [
      name,
      ...lengths.map((length) => `${rounded(turns[length][name])}`),
    ]),
  ];
}
