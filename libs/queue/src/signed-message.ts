import {
  DroverError,
  type InboxMessage,
  parseOrThrow,
  type SignedMessage,
  signedMessageSchema,
} from "@drover/contracts";
import { isSignedBy, type ServiceKeys, signature } from "./service-keys.js";

/**
 * Seconds for which a signed message holds. As long as message ids are remembered: an old message that somebody
 * recorded is either known, or too old.
 */
const HOLDS_S = 7 * 86_400;
/** Seconds by which a sender's clock may be ahead. */
const AHEAD_S = 300;

/** A message with the proof of who sent it. `timestamp` is in seconds since 1970. */
export function signMessage(
  message: InboxMessage,
  key: string,
  secret: string,
  timestamp = Math.floor(Date.now() / 1000),
): SignedMessage {
  const signed = JSON.stringify(message);
  return { v: 1, signed, key, timestamp, signature: signature(secret, `${timestamp}.${signed}`) };
}

export interface Opened {
  body: unknown;
  /** The service that signed it; null for a message without a signature. */
  service: string | null;
}

export function isSigned(body: unknown): body is { signed: unknown } {
  return typeof body === "object" && body !== null && "signed" in body;
}

/**
 * What a job on the inbox holds. @param nowMs Redis's clock
 * @throws DroverError BAD_SIGNATURE, INVALID_MESSAGE
 */
export function openMessage(body: unknown, keys: ServiceKeys, nowMs: number): Opened {
  if (!isSigned(body)) return { body, service: null };
  const {
    signed,
    key,
    timestamp,
    signature: given,
  } = parseOrThrow(signedMessageSchema, body, "The signed message", "INVALID_MESSAGE");
  if (!isSignedBy(keys, key, `${timestamp}.${signed}`, given)) {
    throw bad(
      `the signature is not that of '${key}'. Sign '<timestamp>.<signed>' with the key that the workers have in DROVER_SERVICE_KEYS`,
    );
  }
  const age = nowMs / 1000 - timestamp;
  if (age > HOLDS_S) throw bad("it is older than seven days; sign it anew");
  if (age < -AHEAD_S) throw bad("its timestamp lies in the future; set the sender's clock");
  return { body: parsed(signed), service: key };
}

/** The inner message, whoever signed it: to find where a refusal is sent. */
export function peek(body: unknown): unknown {
  if (!isSigned(body)) return body;
  try {
    return typeof body.signed === "string" ? JSON.parse(body.signed) : null;
  } catch {
    return null;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DroverError(
      "INVALID_MESSAGE",
      "The signed message: 'signed' is not JSON. Put the message's JSON text there.",
    );
  }
}

const bad = (why: string): DroverError => new DroverError("BAD_SIGNATURE", `The message is refused: ${why}.`);
