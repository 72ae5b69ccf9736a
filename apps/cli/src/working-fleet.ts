import type { Cli } from "./cli.js";
import type { Connection } from "./connection.js";
import { Fleet } from "./fleet.js";
import { counted } from "./output/format.js";

const DEFAULT_WORKERS = 2;

/** Runs at once of all workers that live, of whoever they are. */
export async function slotsOf({ client }: Connection): Promise<number> {
  const workers = await client.state.workers.list();
  return workers.reduce((sum, { description }) => sum + description.concurrency, 0);
}

/**
 * Workers of this command, if it needs any: as many as were asked for, else two where nobody else works. Null where
 * others do the work.
 */
export async function fleetIfNeeded(
  cli: Cli,
  { client, redisUrl }: Connection,
  asked: number | undefined,
  fallback = DEFAULT_WORKERS,
): Promise<Fleet | null> {
  const { out, config, interruption } = cli;
  const others = (await client.state.workers.list()).length;
  const count = asked ?? (others > 0 ? 0 : fallback);
  if (count === 0) {
    if (others === 0) out.note("No worker is running: what is enqueued waits for one.");
    return null;
  }
  if (asked === undefined) out.note(`No worker is running; starting ${counted(count, "worker")} for this.`);
  const fleet = await Fleet.start({
    count,
    config,
    redisUrl,
    logLevel: "warn",
    onNote: (text) => out.note(text),
  });
  interruption.onEmergency(() => fleet.kill());
  return fleet;
}

/** Says so where what was just put on the queue has nobody to work on it. */
export async function noteIfNobodyWorks({ out, config }: Cli, { client }: Connection): Promise<void> {
  if ((await client.state.workers.list()).length > 0) return;
  out.note(`No worker is running: start \`${config.invocation} worker\` or \`${config.invocation} dev\`.`);
}
