import { DroverError } from "@drover/contracts";
import { Cluster, type RedisOptions, Redis as Single } from "ioredis";
import { asDroverError } from "./redis-errors.js";
import { isSentinelUrl, parseSentinelUrl } from "./sentinel-address.js";

/** A connection to one Redis or to a Redis Cluster: both have the commands that are used here. */
export type Redis = Single;

export interface ConnectOptions {
  /**
   * `redis://` or `rediss://`; several addresses, separated by commas, make a Cluster. `redis+sentinel://` asks Sentinels
   * for the primary: see `parseSentinelUrl`.
   */
  url: string;
  /**
   * worker: waits as long as it takes for Redis to come back. producer: gives up after a bound, so that a
   * caller gets an error. subscriber: like worker, for a connection that only listens.
   */
  role: "worker" | "producer" | "subscriber";
  /** Milliseconds after which a producer's command fails. Default 10,000. */
  commandTimeoutMs?: number;
  onError?: (error: Error) => void;
}

/** Milliseconds between attempts to reconnect: grows to 2 s and stays there. */
const retryDelay = (times: number): number => Math.min(100 * times, 2000);

/**
 * Milliseconds after which a connection that owes an answer is made anew: the other end of one that a network forgot
 * never says so, and a worker would wait on it for ever. No command blocks for longer than ten seconds.
 */
const SILENCE_MS = 30_000;

/** Opens a connection. Commands of one tick leave together (auto-pipelining), except for subscribers. */
export function connect({ url, role, commandTimeoutMs = 10_000, onError }: ConnectOptions): Redis {
  const common = {
    protocol: 2 as const,
    // A number here would make a producer fail within a second, whatever its bound: a restart takes longer.
    maxRetriesPerRequest: null,
    socketTimeout: SILENCE_MS,
    ...(role === "producer" ? { commandTimeout: commandTimeoutMs } : {}),
  };
  const enableAutoPipelining = role !== "subscriber";
  const redis = isSentinelUrl(url)
    ? openBySentinel(url, { ...common, enableAutoPipelining })
    : openDirectly(url, common, enableAutoPipelining);
  redis.on("error", (error: Error) => onError?.(error));
  if (role !== "subscriber") inOurWords(redis);
  return redis;
}

type Common = Pick<
  RedisOptions,
  "protocol" | "maxRetriesPerRequest" | "commandTimeout" | "socketTimeout" | "enableAutoPipelining"
>;

function openDirectly(url: string, common: Common, enableAutoPipelining: boolean): Redis {
  const [first = "", ...others] = url.split(",").map((one) => one.trim());
  if (others.length === 0) {
    return new Single(first, { ...common, enableAutoPipelining, retryStrategy: retryDelay });
  }
  return new Cluster([first, ...others].map(nodeOf), {
    redisOptions: { ...common, ...credentialsOf(first) },
    enableAutoPipelining,
    clusterRetryStrategy: retryDelay,
  }) as unknown as Redis;
}

/** Asks Sentinels for the primary, again at each connection: after a failover it is another one. */
function openBySentinel(url: string, common: Common): Redis {
  const { isEncrypted, ...address } = parseSentinelUrl(url);
  return new Single({
    ...common,
    ...address,
    ...(isEncrypted ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    retryStrategy: retryDelay,
    sentinelRetryStrategy: retryDelay,
    // Not ioredis's detector of failovers: one that comes while it looks for the primary ends the connection for good.
    // Sentinel closes the connections of a primary that it demotes, and one that only falls silent is given up.
    failoverDetector: false,
    // A primary that became a replica while the connection stood: what it refused is sent to the new one.
    reconnectOnError: (error) => (error.message.startsWith("READONLY") ? 2 : false),
  });
}

/** Makes whatever fails on the connection fail with a DroverError: callers see no error of the client's. */
function inOurWords(redis: Redis): void {
  const send = redis.sendCommand.bind(redis);
  // A Cluster's takes more than the type says.
  redis.sendCommand = (...args: Parameters<typeof send>) => {
    const [command] = args;
    const { reject } = command;
    command.reject = (error) => reject(asDroverError(error) as Error);
    return send(...args);
  };
}

function nodeOf(address: string): { host: string; port: number } {
  const url = parse(address);
  return { host: url.hostname, port: Number(url.port || 6379) };
}

/** All nodes of a Cluster are entered in the same way as the first. */
function credentialsOf(address: string): { username?: string; password?: string; tls?: object } {
  const url = parse(address);
  return {
    ...(url.username ? { username: decodeURIComponent(url.username) } : {}),
    ...(url.password ? { password: decodeURIComponent(url.password) } : {}),
    ...(url.protocol === "rediss:" ? { tls: {} } : {}),
  };
}

function parse(address: string): URL {
  try {
    return new URL(address);
  } catch (cause) {
    throw new DroverError("INVALID_CONFIG", "REDIS_URL is not a list of redis:// addresses.", { cause });
  }
}

/** Fails early and readably where Redis cannot be reached within the bound. */
export async function assertReachable(redis: Redis, timeoutMs = 5000): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer")), timeoutMs);
  });
  try {
    await Promise.race([redis.ping(), late]);
  } catch (cause) {
    throw new DroverError(
      "NO_REDIS",
      "Redis does not answer. Check that it runs and that REDIS_URL is right; without REDIS_URL, `drover dev` starts one.",
      { cause },
    );
  } finally {
    clearTimeout(timer);
  }
}
