import type { Command } from "commander";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { whole } from "../options.js";

interface WorkerOptions {
  concurrency?: number;
  metricsPort?: number;
}

const HELP = `
Takes runs from the queue until SIGTERM or Ctrl-C, which hands over what is in hand to other workers. Logs go to
standard output, as JSON lines unless it is a terminal. Every setting is an environment variable: REDIS_URL,
DROVER_CONCURRENCY, DROVER_METRICS_PORT and the others of docs/command-line.md.

Examples:
  $ REDIS_URL=redis://10.0.0.5:6379 drover worker
  $ drover worker --concurrency 50 --metrics-port 9464`;

export function add(program: Command): void {
  program
    .command("worker")
    .description("Runs one worker in this process.")
    .option("-c, --concurrency <number>", "runs at once (DROVER_CONCURRENCY, default 20)", whole(1, 1000))
    .option(
      "--metrics-port <number>",
      "port of /metrics, /healthz, /readyz; 0 takes a free one",
      whole(0, 65_535),
    )
    .addHelpText("after", HELP)
    .action(act(worker));
}

async function worker(cli: Cli, options: WorkerOptions): Promise<ExitCode | undefined> {
  const { config, interruption, out } = cli;
  return withConnection(cli, { create: true }, async (connection) => {
    const { readConfig, startWorker } = await import("@drover/worker");
    const env = {
      ...config.env,
      REDIS_URL: connection.redisUrl,
      DROVER_ROOT: config.root,
      DROVER_LOG_PRETTY: process.stdout.isTTY && !out.json ? "1" : (config.env.DROVER_LOG_PRETTY ?? "0"),
      ...(options.concurrency === undefined ? {} : { DROVER_CONCURRENCY: String(options.concurrency) }),
      ...(options.metricsPort === undefined ? {} : { DROVER_METRICS_PORT: String(options.metricsPort) }),
    };
    const running = await startWorker(readConfig(env, config.cwd), env);
    await new Promise<void>((resolve) => {
      if (interruption.signal.aborted) resolve();
      interruption.signal.addEventListener("abort", () => resolve());
    });
    await running.stop();
    return EXIT.ok;
  });
}
