import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Redactor } from "@drover/contracts";
import type { Redis } from "../connect.js";
import type { Codec } from "../encryption/codec.js";
import type { Keys } from "../keys.js";
import type { Script } from "../scripts.js";

/** What all parts of a store share. */
export interface MemoryContext {
  redis: Redis;
  keys: Keys;
  tenant: string;
  redactor: Redactor;
  codec: Codec | undefined;
  /** Milliseconds that an item lives if its put does not say; 0 is for ever. */
  ttlMs: number;
  refreshOnRead: boolean;
  maxValueBytes: number;
}

const folder = new URL("../../lua/memory/", import.meta.url);
const common = readFileSync(new URL("common.lua", folder), "utf8");

function script(name: string): Script {
  const source = `${common}\n${readFileSync(new URL(`${name}.lua`, folder), "utf8")}`;
  return { name, source, sha: createHash("sha1").update(source).digest("hex") };
}

export const ITEMS = script("items");
export const SCAN = script("scan");
export const NAMES = script("names");
export const SWEEP = script("sweep");
