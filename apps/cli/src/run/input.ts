import { extname, resolve } from "node:path";
import { DroverError, type RunRequest } from "@drover/contracts";
import { jsonObject, readStandardInput, readText } from "../options.js";

export interface InputOptions {
  input?: string;
  inputJson?: string;
}

/**
 * A run's input: `--input` is one message of a person (text, `@file`, or `-` for standard input), `--input-json` is
 * given to the graph as it is. Throws INVALID_INPUT where there is none, or both, and UNREADABLE_DOCUMENT.
 */
export async function readInput(
  { input, inputJson }: InputOptions,
  cwd: string,
): Promise<RunRequest["input"]> {
  if (input !== undefined && inputJson !== undefined) {
    throw new DroverError("INVALID_INPUT", "Give --input or --input-json, not both.");
  }
  if (inputJson !== undefined) {
    return jsonObject(inputJson === "-" ? await readStandardInput() : inputJson, "--input-json", cwd);
  }
  if (input === undefined) {
    throw new DroverError(
      "INVALID_INPUT",
      'There is no input: give --input "text", --input @file, --input - to read standard input, or --input-json.',
    );
  }
  if (input.startsWith("@")) return fromFile(input.slice(1), cwd);
  const text = input === "-" ? await readStandardInput() : input;
  if (text.trim() === "") throw new DroverError("INVALID_INPUT", "The input is empty.");
  return text;
}

/** A document of a type that is read becomes text or content blocks; any other file is taken for text. */
async function fromFile(name: string, cwd: string): Promise<RunRequest["input"]> {
  const { mediaTypeOf, readDocument } = await import("@drover/documents");
  const path = resolve(cwd, name);
  if (mediaTypeOf(path) === undefined || extname(path) === ".jsonl") return readText(path, "--input");
  const document = await readDocument({ name, path });
  if ("text" in document) return document.text;
  return { messages: [{ role: "user", content: document.blocks }] };
}
