import { type RedisAddress, RedisReplyError, redisCommand } from "./resp.js";

/** `loading`: it reads its append-only file; `none`: nobody, somebody else, or no answer in time. */
export type SignOfLife = "ready" | "loading" | "none";

/** Whether the process `pid`, and not another one on that port, answers there and has loaded its data. */
export async function probe(address: RedisAddress, pid: number): Promise<SignOfLife> {
  try {
    // INFO answers while Redis still loads, PING does not.
    await redisCommand(address, ["PING"]);
    const info = await redisCommand(address, ["INFO", "server"]);
    return info.includes(`process_id:${pid}\r\n`) ? "ready" : "none";
  } catch (error) {
    return error instanceof RedisReplyError && error.message.startsWith("LOADING") ? "loading" : "none";
  }
}
