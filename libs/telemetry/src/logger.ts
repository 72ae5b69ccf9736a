import { isatty } from "node:tty";
import { DroverError, NO_REDACTION, type Redactor } from "@drover/contracts";
import { type Level, pino } from "pino";
import { isColorSupported, prettyFactory } from "pino-pretty";
import { cleanFields, type FieldRules } from "./log-fields.js";
import { hideSecrets } from "./secrets.js";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a line is about. Further fields are allowed; these have fixed names. */
export interface LogFields extends Record<string, unknown> {
  runId?: string;
  threadId?: string;
  agent?: string;
  tenant?: string;
  attempt?: number;
}

export interface LogMethod {
  (message: string): void;
  (fields: LogFields, message: string): void;
}

/**
 * Writes one JSON object a line: `level`, `time` (ISO 8601), `pid`, `hostname`, `name`, the fields, `msg`.
 * Whatever it is handed, it writes no secret, no document content (only sizes), nothing that its redactor covers, and
 * a stack only at level debug or trace. It never throws.
 */
export interface Logger extends Record<Level, LogMethod> {
  readonly level: LogLevel;
  isLevelEnabled(level: Level): boolean;
  /**
   * A logger whose lines carry these fields too; a line's own field of the same name wins.
   * `redactor` (an agent's) is applied after the parent's.
   */
  child(fields: LogFields, options?: { redactor?: Redactor }): Logger;
}

export interface LoggerOptions {
  /** Default `info`. Throws INVALID_CONFIG for any other word than those of LOG_LEVELS. */
  level?: string;
  /** Readable lines for a terminal in place of JSON. Default false. */
  pretty?: boolean;
  /** Default `drover`. */
  name?: string;
  /** Default: redacts nothing. Where it throws (a rule that blocks), the text is written as `[blocked]`. */
  redactor?: Redactor;
  /** Exact values that this process holds and that are never written, such as model keys. Default none. */
  secrets?: readonly string[];
  /** Gets each line with its line end. Default: standard output, written synchronously. */
  destination?: { write(line: string): unknown; isTTY?: boolean };
}

export function createLogger(options: LoggerOptions = {}): Logger {
  const level = asLevel(options.level ?? "info");
  const secrets = options.secrets ?? [];
  const toStdout = options.destination === undefined;
  const destination = options.destination ?? pino.destination({ fd: 1, sync: true });
  const isTerminal = toStdout ? isatty(1) : options.destination?.isTTY === true;
  const sink = pino(
    {
      level,
      name: options.name ?? "drover",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // pino's own would add a stack to whatever looks like an error under this name.
      serializers: { err: (value) => value },
    },
    options.pretty ? prettyDestination(destination, isTerminal) : destination,
  );
  const stacks = sink.isLevelEnabled("debug");

  function build(fields: LogFields, redactors: readonly Redactor[]): Logger {
    const rules: FieldRules = { text: safeText(redactors, secrets), stacks };
    const bound = safeFields(fields, rules);
    const method = (at: Level): LogMethod => {
      return (first: LogFields | string, message?: string): void => {
        if (!sink.isLevelEnabled(at)) return;
        const own = typeof first === "string" ? {} : safeFields(first, rules);
        sink[at]({ ...bound, ...own }, rules.text(typeof first === "string" ? first : (message ?? "")));
      };
    };
    return {
      level,
      isLevelEnabled: (at) => sink.isLevelEnabled(at),
      trace: method("trace"),
      debug: method("debug"),
      info: method("info"),
      warn: method("warn"),
      error: method("error"),
      fatal: method("fatal"),
      child: (more, { redactor } = {}) =>
        build({ ...fields, ...more }, redactor ? [...redactors, redactor] : redactors),
    };
  }
  return build({}, [options.redactor ?? NO_REDACTION]);
}

/** Names that the line itself uses. */
const LINE_KEYS = new Set(["level", "time", "pid", "hostname", "name", "msg"]);

function safeFields(fields: LogFields, rules: FieldRules): Record<string, unknown> {
  try {
    const clean = Object.entries(cleanFields(fields, rules));
    return Object.fromEntries(clean.map(([key, value]) => [LINE_KEYS.has(key) ? `${key}_` : key, value]));
  } catch {
    return { fields: "[could not be read]" };
  }
}

/** An id that Drover made. Kept whole, so that a rule for long numbers does not hide which run a line is about. */
const OWN_ID = /^(?:(?:apr|batch)_[0-9a-f]{20}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/;
/** A longer text is a document, whatever its field is called. */
const LONGEST_READ = 16_384;
const LONGEST_WRITTEN = 2_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal must not obey what a document says
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function safeText(redactors: readonly Redactor[], secrets: readonly string[]): FieldRules["text"] {
  return (text) => {
    if (OWN_ID.test(text)) return text;
    if (text.length > LONGEST_READ) return `[text, ${text.length} characters]`;
    let clean = hideSecrets(text.replace(CONTROL, ""), secrets);
    try {
      for (const redactor of redactors) clean = redactor.text(clean, "log");
    } catch {
      return "[blocked]";
    }
    if (clean.length <= LONGEST_WRITTEN) return clean;
    return `${clean.slice(0, LONGEST_WRITTEN).toWellFormed()}… [${clean.length} characters]`;
  };
}

function prettyDestination(destination: { write(line: string): unknown }, isTerminal: boolean) {
  const prettify = prettyFactory({
    colorize: isTerminal && isColorSupported,
    translateTime: "SYS:HH:MM:ss",
    ignore: "pid,hostname,name",
  });
  return { write: (line: string) => void destination.write(prettify(line)) };
}

function asLevel(level: string): LogLevel {
  const known = LOG_LEVELS.find((candidate) => candidate === level);
  if (known) return known;
  throw new DroverError(
    "INVALID_CONFIG",
    `The log level '${level}' is not known: use ${LOG_LEVELS.join(", ")}.`,
  );
}
