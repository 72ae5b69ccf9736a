import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { DroverError } from "@drover/contracts";
import { InvalidArgumentError } from "commander";

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** `500`, `500ms`, `10s`, `5m`, `2h`, `1d` → milliseconds. */
export function milliseconds(text: string): number {
  const [, number, unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|d)?$/.exec(text) ?? [];
  const size = UNITS[unit];
  if (number === undefined || size === undefined) {
    throw new InvalidArgumentError("Write a time like 500ms, 10s, 5m, 2h or 1d.");
  }
  return Math.round(Number(number) * size);
}

/** A parser of whole numbers within bounds. */
export function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
  };
}

/** Gathers an option that may be given several times. */
export const gathered = (text: string, before: string[] = []): string[] => [...before, text];

/** A JSON object from the command line, or with `@` from a file. Throws INVALID_INPUT that names the option. */
export async function jsonObject(
  text: string | undefined,
  option: string,
  cwd: string,
): Promise<Record<string, unknown>> {
  if (text === undefined) return {};
  const value = await jsonValue(text, option, cwd);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new DroverError("INVALID_INPUT", `${option} is not a JSON object. Write it like '{"key": "value"}'.`);
}

export async function jsonValue(text: string, option: string, cwd: string): Promise<unknown> {
  const json = text.startsWith("@") ? await readText(resolve(cwd, text.slice(1)), option) : text;
  try {
    return JSON.parse(json);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "";
    throw new DroverError(
      "INVALID_INPUT",
      `${option} is not JSON: ${why}. Quote it for the shell, or put it into a file and write @file.json.`,
      { cause },
    );
  }
}

export async function readText(path: string, option: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new DroverError("INVALID_INPUT", `${option}: the file ${path} can't be read.`, { cause });
  });
}

export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
