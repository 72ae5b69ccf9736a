import type { RedisAddress } from "./resp.js";

export interface RedisOptions {
  /** Where Redis keeps its append-only file and log. By default a temporary folder that stop() removes. */
  dir?: string;
  /** By default a free one. */
  port?: number;
  /** As in redis.conf: `64mb`, or a number of bytes. By default no limit. */
  maxmemory?: string | number;
  /** Default true: after restart() with the same folder the data is there again. */
  appendonly?: boolean;
  /** Default `everysec`. */
  appendfsync?: "always" | "everysec" | "no";
  /** Starts a node of a Redis Cluster, without a password. Default false; startCluster sets it. */
  cluster?: boolean;
  /** By default the first on the PATH. */
  binary?: string;
  /** How long Redis may take to write its file out when it is stopped, until it is killed. Default 10,000 ms. */
  stopTimeoutMs?: number;
  /** How long Redis may give no sign of life at its start; loading its file is one. Default 30,000 ms. */
  startTimeoutMs?: number;
}

/** redis.conf. Nothing in it needs quoting: the folder is the working directory. */
export function redisConfig(options: RedisOptions, address: RedisAddress): string {
  const lines = [
    "bind 127.0.0.1",
    `port ${address.port}`,
    "daemonize no",
    'save ""',
    `appendonly ${options.appendonly === false ? "no" : "yes"}`,
    `appendfsync ${options.appendfsync ?? "everysec"}`,
    "maxmemory-policy noeviction",
  ];
  if (address.password !== undefined) lines.push(`requirepass ${address.password}`);
  if (options.maxmemory !== undefined) lines.push(`maxmemory ${options.maxmemory}`);
  if (options.cluster) lines.push("cluster-enabled yes", "cluster-node-timeout 5000");
  return `${lines.join("\n")}\n`;
}
