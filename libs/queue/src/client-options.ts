import type { Redactor } from "@drover/contracts";
import type { Retention } from "@drover/state";
import type { AnswerReader } from "./approvals.js";

export interface ClientOptions {
  redisUrl: string;
  /** The first part of every key. Default `drover`. */
  prefix?: string;
  /** Default `default`. Everything that this client reads and writes is this tenant's. */
  tenant?: string;
  /** Bytes of JSON that a run's input and context may have. Default 8 MiB. */
  maxPayloadBytes?: number;
  /** What to take out of a request before it is written. Default: nothing. */
  redactorOf?: (agent: string) => Redactor;
  /** Checks answers to approvals against their questions. */
  readAnswer?: AnswerReader;
  retention?: Partial<Retention>;
  /** Encrypts what is stored: `id=key` with commas, as DROVER_ENCRYPTION_KEYS of the workers. Default: nothing. */
  encryptionKeys?: string | undefined;
  /** Milliseconds after which a command that Redis does not answer fails. Default 10,000. */
  commandTimeoutMs?: number;
  onError?: (error: Error) => void;
  /** The W3C trace context of runs whose request has none: that of the span that is active in the caller. */
  traceparent?: () => string | undefined;
}
