import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";

/** What `.drover/redis.json` says about the Redis of a project folder. The URL holds the password. */
export interface RedisRecord {
  url: string;
  port: number;
  /** Redis's process id. */
  pid: number;
  /** The process id of the one that started Redis and will stop it. */
  owner: number;
}

/** undefined when there is no record or it can't be understood. */
export async function readRecord(file: string): Promise<RedisRecord | undefined> {
  try {
    const { url, port, pid, owner } = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
    if (typeof url !== "string" || !URL.canParse(url)) return undefined;
    if (typeof port !== "number" || typeof pid !== "number" || typeof owner !== "number") return undefined;
    return { url, port, pid, owner };
  } catch {
    return undefined;
  }
}

/** Readable by its owner only, and never seen half written. */
export async function writeRecord(file: string, record: RedisRecord): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** Removes the record unless it speaks of another Redis by now. */
export async function removeRecord(file: string, pid: number): Promise<void> {
  if ((await readRecord(file))?.pid === pid) await rm(file, { force: true });
}
