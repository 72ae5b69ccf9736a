import { DroverError } from "@drover/contracts";

/** How a primary is found by asking Sentinels for it. */
export interface SentinelAddress {
  sentinels: { host: string; port: number }[];
  /** The name under which the Sentinels watch the primary. */
  name: string;
  db: number;
  /** Of the primary and its replicas. */
  username?: string;
  password?: string;
  sentinelUsername?: string;
  sentinelPassword?: string;
  /** Whether primary and Sentinels speak TLS. */
  isEncrypted: boolean;
}

const FORM = /^(rediss?)\+sentinel:\/\/(?:([^@/]*)@)?([^/@]+)\/([^/?]+)(?:\/(\d+))?(?:\?(.*))?$/;
const DEFAULT_PORT = 26_379;

/** Whether an address names Sentinels: `redis+sentinel://…` or `rediss+sentinel://…`. */
export const isSentinelUrl = (url: string): boolean => /^rediss?\+sentinel:/.test(url);

/**
 * Reads `redis+sentinel://user:password@host:26379,host2:26379/name/0?sentinelPassword=…`; user, password, ports, the
 * number of the database and what stands behind the question mark may be left out. Throws INVALID_CONFIG.
 */
export function parseSentinelUrl(url: string): SentinelAddress {
  const [, scheme, login, hosts = "", name = "", db, query] = FORM.exec(url) ?? [];
  if (scheme === undefined) {
    throw new DroverError(
      "INVALID_CONFIG",
      "REDIS_URL names Sentinels in another form than redis+sentinel://user:password@host:26379,host2:26379/name.",
    );
  }
  const [username, password] = splitLogin(login);
  const also = new URLSearchParams(query);
  const of = (key: "sentinelUsername" | "sentinelPassword") => {
    const value = also.get(key);
    return value === null ? {} : { [key]: value };
  };
  return {
    sentinels: hosts.split(",").map(nodeOf),
    name: decodeURIComponent(name),
    db: Number(db ?? 0),
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...of("sentinelUsername"),
    ...of("sentinelPassword"),
    isEncrypted: scheme === "rediss",
  };
}

/** `user:password`, `:password`, or a password alone. */
function splitLogin(login: string | undefined): [string, string] {
  if (login === undefined) return ["", ""];
  const at = login.indexOf(":");
  const [user, password] = at < 0 ? ["", login] : [login.slice(0, at), login.slice(at + 1)];
  return [decodeURIComponent(user), decodeURIComponent(password)];
}

function nodeOf(address: string): { host: string; port: number } {
  const [, host = "", port] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(address.trim()) ?? [];
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port ?? DEFAULT_PORT) };
}
