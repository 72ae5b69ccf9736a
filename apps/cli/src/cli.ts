import type { Command } from "commander";
import { type CliConfig, readConfig } from "./config.js";
import { EXIT, type ExitCode } from "./exit-codes.js";
import { Interruption } from "./interruption.js";
import { Output } from "./output/output.js";

/** What every command works with. */
export interface Cli {
  config: CliConfig;
  out: Output;
  interruption: Interruption;
}

/** Options that every command has. */
export interface GlobalOptions {
  json?: boolean;
  verbose?: boolean;
}

/** How commands end: main exits with it, whatever timers or connections are left. */
export const ended: { code: ExitCode; verbose: boolean } = { code: EXIT.ok, verbose: false };

/**
 * Makes a handler into commander's action. The handler gets the arguments and options that commander gives, and
 * returns the exit code; nothing means 0, or 130 after Ctrl-C.
 */
export function act<Args extends unknown[]>(
  handle: (cli: Cli, ...args: Args) => Promise<ExitCode | undefined>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const command = args.at(-1) as Command;
    const { json = false, verbose = false } = command.optsWithGlobals<GlobalOptions>();
    ended.verbose = verbose;
    const config = readConfig();
    const interruption = new Interruption();
    interruption.listen();
    const out = new Output({ json, mayColour: config.mayColour });
    const code = await handle({ config, out, interruption }, ...args);
    ended.code = code ?? interruption.exitCode ?? EXIT.ok;
  };
}
