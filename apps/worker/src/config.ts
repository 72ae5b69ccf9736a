import { hostname } from "node:os";
import { parseOrThrow } from "@drover/contracts";
import { parseServiceKeys, type ServiceKeys } from "@drover/queue";
import {
  type AesCodec,
  DEFAULT_MAX_PAYLOAD,
  parseEncryptionKeys,
  parseRetention,
  type Retention,
} from "@drover/state";
import { LOG_LEVELS } from "@drover/telemetry";
import { z } from "zod";

const whole = (least: number, most: number, fallback: number) =>
  z.coerce.number().int().min(least).max(most).default(fallback);

/** Every setting of a worker, by its environment variable. The only place that knows their names and defaults. */
export const workerSettings = z.object({
  /** redis://…, rediss://…, several addresses of a Cluster separated by commas, or redis+sentinel://host:26379/name. */
  REDIS_URL: z.string().min(1, "set it to the address of a Redis, for example redis://127.0.0.1:6379"),
  /** First part of every key in Redis. */
  DROVER_PREFIX: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/)
    .default("drover"),
  /** Folder with langgraph.json. Default: where the process was started. */
  DROVER_ROOT: z.string().optional(),
  /** The fleet's policy, a JSON file; a relative path begins at the folder of langgraph.json. */
  DROVER_POLICY: z.string().optional(),
  /** Runs at once in this process. Agents wait for models most of the time. */
  DROVER_CONCURRENCY: whole(1, 1000, 20),
  /** Milliseconds without a sign of life after which others take this worker's runs over. */
  DROVER_LEASE_MS: whole(1000, 600_000, 5000),
  /** Milliseconds that runs have to reach a step boundary after SIGTERM. */
  DROVER_DRAIN_MS: whole(0, 3_600_000, 25_000),
  /** Milliseconds that one activation of a run may take. */
  DROVER_RUN_TIMEOUT_MS: whole(1000, 86_400_000, 3_600_000),
  /** Milliseconds for which work may wait without being taken before this worker says that it is not healthy. */
  DROVER_STALL_MS: whole(1000, 600_000, 45_000),
  /** How many workers may die of a run before it is set aside; the last one worked on nothing else. */
  DROVER_MAX_CRASHES: whole(1, 100, 3),
  /** Port of /metrics, /healthz and /readyz; 0 takes a free one. */
  DROVER_METRICS_PORT: whole(0, 65_535, 0),
  /** Where they listen; 0.0.0.0 where Prometheus or the kubelet comes from outside. */
  DROVER_METRICS_HOST: z.string().default("127.0.0.1"),
  /** Keys the hashes of PII rules with the strategy hash, at least 16 bytes; the same for the whole fleet. */
  DROVER_PII_HASH_KEY: z.string().min(16).optional(),
  /** redis-json: LangChain's own saver, on a Redis with RedisJSON and RediSearch. docs/checkpoints.md says what it cannot keep. */
  DROVER_CHECKPOINTS: z.enum(["redis", "redis-json"]).default("redis"),
  /**
   * How long finished things are kept: runs=7d,threads=7d,events=1d,batches=30d,idempotency=7d,replies=7d; and how many:
   * eventsLength=10000,repliesLength=100000.
   */
  DROVER_RETENTION: z.string().optional(),
  /**
   * Encrypts what is stored: `id=key` with commas, each key 32 bytes in base64; the first one encrypts, all read. The
   * same for workers, clients and the command line.
   */
  DROVER_ENCRYPTION_KEYS: z.string().optional(),
  /**
   * Keys of services, `name=secret` with commas: they sign messages to the inbox, and webhooks are signed with them.
   * `name@tenant=secret` is for one tenant only.
   */
  DROVER_SERVICE_KEYS: z.string().optional(),
  /** 1 lets webhooks call addresses of private networks. */
  DROVER_WEBHOOK_PRIVATE: z.enum(["0", "1"]).default("0"),
  /** Bytes of JSON that a run's input and context may have, where a message brings them. */
  DROVER_MAX_PAYLOAD_BYTES: z.coerce.number().int().min(1024).default(DEFAULT_MAX_PAYLOAD),
  /** Prices of models, a JSON file like libs/runtime/prices.json; a relative path begins at the folder of langgraph.json. */
  DROVER_PRICES: z.string().optional(),
  /** Where a collector takes traces, OTLP over HTTP, for example http://collector:4318. Without it none are made. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** What this worker is called in traces. */
  OTEL_SERVICE_NAME: z.string().default("drover-worker"),
  /** 1 puts what people and models say into traces, after redaction. */
  DROVER_OTEL_CONTENT: z.enum(["0", "1"]).default("0"),
  /** trace, debug, info, warn, error, fatal or silent. */
  LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
  /** 1 writes logs for a terminal, 0 as JSON lines. */
  DROVER_LOG_PRETTY: z.enum(["0", "1"]).default("0"),
});

export interface WorkerConfig {
  redisUrl: string;
  prefix: string;
  root: string;
  fleetPolicy: string | undefined;
  concurrency: number;
  leaseMs: number;
  drainMs: number;
  runTimeoutMs: number;
  stallMs: number;
  maxCrashes: number;
  metricsPort: number;
  metricsHost: string;
  piiHashKey: string | undefined;
  checkpoints: "redis" | "redis-json";
  retention: Partial<Retention>;
  codec: AesCodec | undefined;
  serviceKeys: ServiceKeys;
  webhooksMayBePrivate: boolean;
  maxPayloadBytes: number;
  prices: string | undefined;
  /** Undefined: nothing is traced. */
  traces: { endpoint: string; serviceName: string; hasContent: boolean } | undefined;
  logLevel: string;
  logPretty: boolean;
  host: string;
}

/** Throws INVALID_CONFIG that names each wrong variable. */
export function readConfig(env: NodeJS.ProcessEnv, cwd: string): WorkerConfig {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const s = parseOrThrow(workerSettings, given, "The environment", "INVALID_CONFIG");
  return {
    redisUrl: s.REDIS_URL,
    prefix: s.DROVER_PREFIX,
    root: s.DROVER_ROOT ?? cwd,
    fleetPolicy: s.DROVER_POLICY,
    concurrency: s.DROVER_CONCURRENCY,
    leaseMs: s.DROVER_LEASE_MS,
    drainMs: s.DROVER_DRAIN_MS,
    runTimeoutMs: s.DROVER_RUN_TIMEOUT_MS,
    stallMs: s.DROVER_STALL_MS,
    maxCrashes: s.DROVER_MAX_CRASHES,
    metricsPort: s.DROVER_METRICS_PORT,
    metricsHost: s.DROVER_METRICS_HOST,
    piiHashKey: s.DROVER_PII_HASH_KEY,
    checkpoints: s.DROVER_CHECKPOINTS,
    retention: parseRetention(s.DROVER_RETENTION),
    codec: parseEncryptionKeys(s.DROVER_ENCRYPTION_KEYS),
    serviceKeys: parseServiceKeys(s.DROVER_SERVICE_KEYS),
    webhooksMayBePrivate: s.DROVER_WEBHOOK_PRIVATE === "1",
    maxPayloadBytes: s.DROVER_MAX_PAYLOAD_BYTES,
    prices: s.DROVER_PRICES,
    traces: s.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: s.OTEL_EXPORTER_OTLP_ENDPOINT,
          serviceName: s.OTEL_SERVICE_NAME,
          hasContent: s.DROVER_OTEL_CONTENT === "1",
        }
      : undefined,
    logLevel: s.LOG_LEVEL,
    logPretty: s.DROVER_LOG_PRETTY === "1",
    host: hostname(),
  };
}
