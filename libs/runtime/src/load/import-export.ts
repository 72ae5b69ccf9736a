import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { DroverError } from "@drover/contracts";
import type { GraphEntry } from "./config-file.js";

let typescript: Promise<void> | undefined;

/** Teaches this process to import TypeScript, once, and only where an agent is written in it. */
function readTypescript(): Promise<void> {
  typescript ??= import("tsx/esm/api").then(({ register }) => {
    register();
  });
  return typescript;
}

/**
 * The value that an entry of langgraph.json names.
 * @throws DroverError INVALID_AGENT with `where` for a missing file or export, and for a module that throws;
 * a DroverError of the module itself keeps its code.
 */
export async function importExport(root: string, entry: GraphEntry, where: string): Promise<unknown> {
  const path = resolve(root, entry.file);
  await access(path).catch((cause: unknown) => {
    throw new DroverError("INVALID_AGENT", `${where}: there is no file ${path}.`, { cause });
  });
  if (/\.[cm]?tsx?$/.test(path)) await readTypescript();
  const exports = await importModule(path, where);
  if (!(entry.exportName in exports)) {
    const names = Object.keys(exports).join(", ") || "nothing";
    throw new DroverError(
      "INVALID_AGENT",
      `${where}: ${path} has no export '${entry.exportName}'; it exports ${names}.`,
    );
  }
  return exports[entry.exportName];
}

async function importModule(path: string, where: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (cause) {
    throw atPlace(cause, where, `${path} could not be loaded`);
  }
}

/** The error with the place of the entry in front; DroverErrors keep their code, also those of another copy. */
export function atPlace(error: unknown, where: string, what: string): DroverError {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === "DroverError" && "code" in error) {
    return new DroverError((error as DroverError).code, `${where}: ${message}`, { cause: error });
  }
  return new DroverError("INVALID_AGENT", `${where}: ${what}: ${message}`, { cause: error });
}
