import { lookup as resolve } from "node:dns";
import { request as http } from "node:http";
import { request as https } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Notice, Webhook } from "@drover/contracts";
import { isPublicAddress } from "./public-address.js";
import { keyFor, type ServiceKeys, signature } from "./service-keys.js";

/** Milliseconds that a receiver has to answer. */
const TIMEOUT_MS = 15_000;

export interface WebhookSettings {
  keys: ServiceKeys;
  /** Whether addresses of private networks may be called. */
  allowPrivate: boolean;
}

/**
 * Posts one notice, signed as Standard Webhooks says: `webhook-id`, `webhook-timestamp` (seconds), and
 * `webhook-signature`, the HMAC-SHA256 of `<id>.<timestamp>.<body>`. Redirects are not followed. Throws an Error whose
 * message names what went wrong, never what the receiver answered.
 */
export async function postWebhook(
  { url, key }: Webhook,
  notice: Notice,
  settings: WebhookSettings,
): Promise<void> {
  const [secret] = keyFor(settings.keys, key, notice.tenant)?.secrets ?? [];
  if (secret === undefined) {
    throw new Error(
      `no key '${key}' to sign with for tenant '${notice.tenant}'; name it in the workers' DROVER_SERVICE_KEYS`,
    );
  }
  const target = new URL(url);
  const host = target.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !settings.allowPrivate && !isPublicAddress(host)) throw new Error(notAllowed(host));
  const body = JSON.stringify(notice);
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "user-agent": "drover",
    "webhook-id": notice.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature(secret, `${notice.id}.${timestamp}.${body}`),
  };
  const status = await send(target, headers, body, settings.allowPrivate ? resolve : resolvePublic);
  if (status < 200 || status > 299) throw new Error(`the receiver answered with status ${status}`);
}

function send(
  target: URL,
  headers: Record<string, string | number>,
  body: string,
  lookup: LookupFunction,
): Promise<number> {
  return new Promise((done, fail) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const open = target.protocol === "https:" ? https : http;
    const request = open(target, { method: "POST", headers, lookup, signal, agent: false }, (response) => {
      response.resume();
      done(response.statusCode ?? 0);
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      fail(
        new Error(signal.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : (error.code ?? error.message)),
      );
    });
    request.end(body);
  });
}

/** Looks at the addresses that the connection will use: a name that changes its mind meanwhile gains nothing. */
const resolvePublic: LookupFunction = (host, options, callback) => {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "");
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    if (refused) return callback(new Error(notAllowed(host)), "");
    const [first] = addresses;
    if (options.all) return callback(null, addresses);
    return callback(null, first?.address ?? "", first?.family);
  });
};

const notAllowed = (host: string): string =>
  `'${host}' is not an address of the public internet; DROVER_WEBHOOK_PRIVATE=1 allows private networks`;
