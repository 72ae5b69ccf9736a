import { isDroverError } from "@drover/contracts";
import { createLogger } from "@drover/telemetry";
import { readConfig, type WorkerConfig } from "./config.js";
import { startWorker } from "./worker.js";

/**
 * Exit codes: 0 left after SIGTERM, 1 could not start, 130 was told twice to leave. A parent that started
 * it with an IPC channel is told where the metrics are; when the parent is gone, so is the worker.
 */
async function main(): Promise<void> {
  let told = 0;
  // Before the worker says that it is ready: a signal that comes right then must find somebody.
  const toldToLeave = new Promise<void>((resolve) => {
    const leave = () => {
      told += 1;
      // Safe at any point: what is in hand is taken over, as after a crash.
      if (told > 1) process.exit(130);
      resolve();
    };
    process.on("SIGTERM", leave);
    process.on("SIGINT", leave);
    process.once("disconnect", resolve);
  });
  const config = readConfig(process.env, process.cwd());
  outliveStrayFailures(config);
  const worker = await startWorker(config, process.env);
  process.send?.({ url: worker.url });
  await toldToLeave;
  await worker.stop();
  process.exit(0);
}

/**
 * A promise that an agent's code forgot must not end a process that works on the runs of others: each of them would
 * count it as a crash of its own. Its message is not written, it may hold anything.
 */
function outliveStrayFailures({ logLevel, logPretty }: WorkerConfig): void {
  const logger = createLogger({ level: logLevel, pretty: logPretty, name: "worker" });
  process.on("unhandledRejection", (reason) => {
    const thrown = reason instanceof Error ? reason.name : typeof reason;
    const at = reason instanceof Error ? reason.stack?.split("\n").find((line) => /^\s+at /.test(line)) : "";
    logger.error({ thrown, at: at?.trim() }, "a failure that no code waited for");
  });
}

main().catch((error: unknown) => {
  const message = isDroverError(error) ? `${error.code}: ${error.message}` : String(error);
  process.stderr.write(`worker: ${message}\n`);
  process.exit(1);
});
