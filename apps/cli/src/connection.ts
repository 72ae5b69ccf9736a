import { existsSync } from "node:fs";
import { join } from "node:path";
import { DroverError, isDroverError, type Redactor } from "@drover/contracts";
import type { AnswerReader, Client } from "@drover/queue";
import type { Cli } from "./cli.js";

export interface Connection {
  client: Client;
  /** Holds the password: a secret. */
  redisUrl: string;
  /** The Redis in words, without its password. */
  redisInWords: string;
  /** Whether Redis ends with this command: then only what this command starts can work on runs. */
  ownsRedis: boolean;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /**
   * Whether a project folder without a Redis gets one. Default false: a command that only asks must not leave a
   * `.drover` folder wherever it is typed.
   */
  create?: boolean;
  redactorOf?: (agent: string) => Redactor;
  readAnswer?: AnswerReader;
}

interface Server {
  url: string;
  words: string;
  ownsIt: boolean;
  stop(): Promise<void>;
}

/**
 * Connects to REDIS_URL; else to the Redis of the project's folder, which is started for as long as this command
 * runs if nobody else has. Throws NO_REDIS when it does not answer.
 */
export async function openConnection(cli: Cli, options: ConnectionOptions = {}): Promise<Connection> {
  const server = await serverOf(cli, options.create ?? false);
  try {
    return await connectTo(cli, server, options);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Opens a connection for the time of `use`. */
export async function withConnection<T>(
  cli: Cli,
  options: ConnectionOptions,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await openConnection(cli, options);
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

async function connectTo(cli: Cli, server: Server, options: ConnectionOptions): Promise<Connection> {
  const [{ Client }, { asDroverError, assertReachable, parseRetention }] = await Promise.all([
    import("@drover/queue"),
    import("@drover/state"),
  ]);
  const { config } = cli;
  const client = new Client({
    redisUrl: server.url,
    prefix: config.prefix,
    tenant: config.tenant,
    retention: parseRetention(config.retention),
    encryptionKeys: config.encryptionKeys,
    ...(config.maxPayloadBytes ? { maxPayloadBytes: config.maxPayloadBytes } : {}),
    ...(options.redactorOf ? { redactorOf: options.redactorOf } : {}),
    ...(options.readAnswer ? { readAnswer: options.readAnswer } : {}),
  });
  const close = async (): Promise<void> => {
    await client.close();
    await server.stop();
  };
  try {
    await assertReachable(client.state.redis);
    await client.assertReady();
  } catch (error) {
    await client.close().catch(() => {});
    // A refused password is not an absent Redis.
    const cause = error instanceof Error ? asDroverError(error.cause) : undefined;
    throw isDroverError(cause, "REDIS_REFUSED") ? cause : error;
  }
  return { client, redisUrl: server.url, redisInWords: server.words, ownsRedis: server.ownsIt, close };
}

async function serverOf({ config }: Cli, create: boolean): Promise<Server> {
  if (config.redisUrl !== undefined) {
    const words = config.redisUrl.replace(/\/\/[^@/,]*@/g, "//");
    return { url: config.redisUrl, words, ownsIt: false, stop: async () => {} };
  }
  if (!create && !existsSync(join(config.root, ".drover", "redis"))) {
    throw new DroverError(
      "NO_REDIS",
      `There is nothing to ask: REDIS_URL is not set, and ${config.root} has no Redis of its own yet. ` +
        "Go to your project's folder, or begin with `drover dev`.",
    );
  }
  const { embeddedRedis } = await import("@drover/embedded");
  const redis = await embeddedRedis({ root: config.root });
  const words = `the project's own Redis, ${join(config.root, ".drover", "redis")}, port ${redis.port}`;
  return { url: redis.url, words, ownsIt: redis.ownsIt, stop: () => redis.stop() };
}
