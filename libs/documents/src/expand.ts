import { readdir, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { DroverError } from "@drover/contracts";
import { glob, isDynamicPattern } from "tinyglobby";
import type { DocumentRef } from "./document.js";
import { lineSpans } from "./jsonl.js";
import { mediaTypeOf, SUPPORTED_EXTENSIONS } from "./media-type.js";

/** What was found but is not among the documents, and why. */
export interface SkippedInput {
  name: string;
  reason: string;
}

export interface ExpandedInputs {
  documents: DocumentRef[];
  skipped: SkippedInput[];
}

/**
 * The documents that files, folders (with all below them), globs and .jsonl files (each line one document) stand
 * for: in the order of the arguments, those of a folder or glob by name, none twice. Folders and globs pass over
 * hidden files, links to folders and types that Drover doesn't read, and say so in `skipped`; a file that is named
 * itself is always taken, and fails alone if it can't be read.
 * Throws INVALID_INPUT for a path that does not exist and a glob that matches nothing.
 */
export async function expandInputs(
  args: readonly string[],
  options: { cwd: string },
): Promise<ExpandedInputs> {
  const found: ExpandedInputs = { documents: [], skipped: [] };
  const seen = new Set<string>();
  for (const arg of args) {
    for (const path of await filesOf(arg, options.cwd, found.skipped)) {
      const name = nameFrom(options.cwd, path);
      if (seen.has(path)) {
        found.skipped.push({ name, reason: "named twice" });
        continue;
      }
      seen.add(path);
      await addDocuments(found.documents, { name, path });
    }
  }
  return found;
}

async function addDocuments(documents: DocumentRef[], file: DocumentRef): Promise<void> {
  if (mediaTypeOf(file.path) !== "application/jsonl") {
    documents.push(file);
    return;
  }
  for await (const line of lineSpans(file.path)) {
    documents.push({ name: `${file.name}#${line.number}`, path: file.path, line });
  }
}

async function filesOf(arg: string, cwd: string, skipped: SkippedInput[]): Promise<string[]> {
  const path = resolve(cwd, arg);
  const info = await stat(path).catch(() => null);
  if (info?.isDirectory()) return filesBelow(path, cwd, skipped);
  if (info) return [path];
  if (!isDynamicPattern(arg)) {
    throw new DroverError("INVALID_INPUT", `There is no file or folder "${arg}" in ${cwd}. Check the path.`);
  }
  const matches = await glob(arg, {
    cwd,
    absolute: true,
    onlyFiles: true,
    expandDirectories: false,
    followSymbolicLinks: false,
  });
  if (matches.length === 0) {
    throw new DroverError(
      "INVALID_INPUT",
      `No file matches "${arg}" in ${cwd}. Check the pattern, and quote it.`,
    );
  }
  return matches
    .map((match) => resolve(match))
    .sort(byName)
    .filter((match) => isReadable(match, cwd, skipped));
}

async function filesBelow(folder: string, cwd: string, skipped: SkippedInput[]): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => byName(a.name, b.name));
  const files: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".")) skipped.push({ name: nameFrom(cwd, path), reason: "hidden" });
    else if (entry.isDirectory()) files.push(...(await filesBelow(path, cwd, skipped)));
    else if (entry.isFile() || (await isFileBehindLink(path))) {
      if (isReadable(path, cwd, skipped)) files.push(path);
    } else skipped.push({ name: nameFrom(cwd, path), reason: "neither a file nor a folder" });
  }
  return files;
}

function isReadable(path: string, cwd: string, skipped: SkippedInput[]): boolean {
  if (mediaTypeOf(path) !== undefined) return true;
  skipped.push({ name: nameFrom(cwd, path), reason: `not one of ${SUPPORTED_EXTENSIONS.join(" ")}` });
  return false;
}

async function isFileBehindLink(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}

function nameFrom(cwd: string, path: string): string {
  return relative(cwd, path).split(sep).join("/");
}

/** By code unit, so that the order is the same on every machine. */
function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
