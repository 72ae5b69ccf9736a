import { DroverError } from "@drover/contracts";
import { CommanderError } from "commander";
import { ended } from "./cli.js";
import { readConfig } from "./config.js";
import { EXIT, type ExitCode, exitCodeOf } from "./exit-codes.js";
import { createProgram } from "./program.js";

async function main(words: string[]): Promise<ExitCode> {
  try {
    const program = await createProgram(words);
    await program.parseAsync(words.length > 0 ? words : ["--help"], { from: "user" });
    return ended.code;
  } catch (raw) {
    // Commander has said it already.
    if (raw instanceof CommanderError) return raw.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const error = await named(raw);
    process.stderr.write(`${error.code}: ${error.message}\n`);
    if (ended.verbose || isDebug()) printStacks(raw);
    return exitCodeOf(error);
  }
}

/** Every failure with its code. */
async function named(raw: unknown): Promise<DroverError> {
  if (raw instanceof DroverError) return raw;
  // Loaded only where it is needed: it brings a Redis client with it.
  const { asDroverError } = await import("@drover/state");
  const error = asDroverError(raw);
  if (error instanceof DroverError) return error;
  const message = raw instanceof Error ? raw.message : String(raw);
  return new DroverError("INTERNAL", `${message} (--verbose shows where)`, { cause: raw });
}

function printStacks(raw: unknown): void {
  for (let at = raw; at instanceof Error; at = at.cause) process.stderr.write(`${at.stack}\n`);
}

function isDebug(): boolean {
  try {
    return readConfig().isDebug;
  } catch {
    return false;
  }
}

// The reader of a pipe may have enough before the end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
});
const code = await main(process.argv.slice(2));
// A pipe takes 64 KiB at once, and the rest when it is read.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))),
);
process.exit(code);
