import { DroverError } from "@drover/contracts";
import { CommanderError } from "commander";
import { ended } from "./cli.js";
import { readConfig } from "./config.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";
import { createProgram } from "./program.js";

/** One line for people, `CODE: message`; the stack only for who asks for it. */
async function report(raw: unknown, withStack: boolean): Promise<void> {
  const { asDroverError } = await import("@drover/state");
  const error = asDroverError(raw);
  const known =
    error instanceof DroverError
      ? error
      : new DroverError(
          "INTERNAL",
          `${raw instanceof Error ? raw.message : String(raw)} (--verbose shows where)`,
        );
  process.stderr.write(`${known.code}: ${known.message}\n`);
  if (!withStack) return;
  for (let at: unknown = raw; at instanceof Error; at = at.cause) process.stderr.write(`${at.stack}\n`);
}

async function main(): Promise<number> {
  // The reader of a pipe may have enough before the end.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(EXIT.ok);
  });
  try {
    const words = process.argv.slice(2);
    const program = await createProgram(words);
    await program.parseAsync(words.length > 0 ? words : ["--help"], { from: "user" });
    return ended.code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.ok;
      return EXIT.usage;
    }
    await report(error, ended.verbose || isDebug());
    const { asDroverError } = await import("@drover/state");
    return exitCodeOf(asDroverError(error));
  }
}

function isDebug(): boolean {
  try {
    return readConfig().isDebug;
  } catch {
    return false;
  }
}

process.exit(await main());
