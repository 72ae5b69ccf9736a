import { isDroverError } from "@drover/contracts";
import { readConfig } from "./config.js";
import { startWorker } from "./worker.js";

/**
 * Exit codes: 0 left after SIGTERM, 1 could not start, 130 was told twice to leave. A parent that started
 * it with an IPC channel is told where the metrics are; when the parent is gone, so is the worker.
 */
async function main(): Promise<void> {
  const orphaned = new Promise<void>((resolve) => process.once("disconnect", resolve));
  const worker = await startWorker(readConfig(process.env, process.cwd()), process.env);
  let told = 0;
  const leave = (): void => {
    told += 1;
    // Safe at any point: what is in hand is taken over, as after a crash.
    if (told > 1) process.exit(130);
    worker.stop().then(() => process.exit(0));
  };
  process.on("SIGTERM", leave);
  process.on("SIGINT", leave);
  orphaned.then(leave);
  process.send?.({ url: worker.url });
}

main().catch((error: unknown) => {
  const message = isDroverError(error) ? `${error.code}: ${error.message}` : String(error);
  process.stderr.write(`worker: ${message}\n`);
  process.exit(1);
});
