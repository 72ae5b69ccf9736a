import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { DroverError } from "@drover/contracts";

const NAMES = ["redis-server", "valkey-server"];

/** The path of the first `redis-server` (else `valkey-server`) on `path`, by default the process's PATH. */
export function findRedisBinary(path: string | undefined = process.env.PATH): string | undefined {
  const folders = (path ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.find(isExecutableFile);
}

/** Like findRedisBinary. Throws NO_REDIS with what to type when there is none. */
export function requireRedisBinary(path?: string): string {
  const found = findRedisBinary(path);
  if (found !== undefined) return found;
  throw new DroverError(
    "NO_REDIS",
    "No redis-server was found on the PATH. Type `npm run setup`, which installs one after asking, or install it " +
      "yourself (Debian, Ubuntu: `sudo apt-get install redis-server`; macOS: `brew install redis`). " +
      "To use a Redis that runs elsewhere, set REDIS_URL.",
  );
}

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
