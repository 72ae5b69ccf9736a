import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { nameSchema, parseOrThrow } from "@drover/contracts";
import { z } from "zod";

/** Every setting of the command line, by its environment variable. A worker that it starts reads more. */
const settings = z.object({
  REDIS_URL: z
    .string()
    .regex(
      /^rediss?(\+sentinel)?:\/\/[^\s]+$/,
      "use redis://host:6379, several addresses of a Cluster with commas, or redis+sentinel://host:26379/name",
    )
    .optional(),
  DROVER_PREFIX: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, "use 1 to 32 lower-case letters, digits or '-'")
    .default("drover"),
  DROVER_TENANT: nameSchema.default("default"),
  DROVER_ROOT: z.string().optional(),
  DROVER_POLICY: z.string().optional(),
  DROVER_MAX_PAYLOAD_BYTES: z.coerce.number().int().min(1024).optional(),
  DROVER_PII_HASH_KEY: z.string().min(16, "use at least 16 bytes").optional(),
  DROVER_RETENTION: z.string().optional(),
  DROVER_ENCRYPTION_KEYS: z.string().optional(),
  DROVER_DRAIN_MS: z.coerce.number().int().min(0).default(10_000),
  DROVER_DEBUG: z.string().optional(),
  LOG_LEVEL: z.string().optional(),
  NO_COLOR: z.string().optional(),
  TERM: z.string().optional(),
  npm_lifecycle_event: z.string().optional(),
});

export interface CliConfig {
  /** Undefined: the project's own Redis. */
  redisUrl: string | undefined;
  prefix: string;
  tenant: string;
  maxPayloadBytes: number | undefined;
  piiHashKey: string | undefined;
  retention: string | undefined;
  encryptionKeys: string | undefined;
  /** The folder with langgraph.json, from here upwards; else where the command was started. */
  root: string;
  /** The fleet's policy; a relative path begins at `root`. */
  fleetPolicy: string | undefined;
  cwd: string;
  /** Milliseconds that workers of this command have to reach a step boundary. */
  drainMs: number;
  logLevel: string | undefined;
  isDebug: boolean;
  mayColour: boolean;
  /** What a user types before a command's name: from a clone it is `npm run drover --`. */
  invocation: string;
  /** The whole environment: agents find their providers' keys in it. */
  env: NodeJS.ProcessEnv;
}

/** Throws INVALID_CONFIG that names each wrong variable. */
export function readConfig(env: NodeJS.ProcessEnv = process.env, cwd: string = process.cwd()): CliConfig {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const s = parseOrThrow(settings, given, "The environment", "INVALID_CONFIG");
  return {
    redisUrl: s.REDIS_URL,
    prefix: s.DROVER_PREFIX,
    tenant: s.DROVER_TENANT,
    maxPayloadBytes: s.DROVER_MAX_PAYLOAD_BYTES,
    piiHashKey: s.DROVER_PII_HASH_KEY,
    retention: s.DROVER_RETENTION,
    encryptionKeys: s.DROVER_ENCRYPTION_KEYS,
    root: s.DROVER_ROOT ?? projectFolder(cwd),
    fleetPolicy: s.DROVER_POLICY,
    cwd,
    drainMs: s.DROVER_DRAIN_MS,
    logLevel: s.LOG_LEVEL,
    isDebug: s.DROVER_DEBUG !== undefined && s.DROVER_DEBUG !== "0",
    mayColour: s.NO_COLOR === undefined && s.TERM !== "dumb",
    invocation: ["start", "drover"].includes(s.npm_lifecycle_event ?? "") ? "npm run drover --" : "drover",
    env,
  };
}

function projectFolder(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "langgraph.json"))) return folder;
    if (folder === dirname(folder)) return cwd;
  }
}
