/**
 * Kills the process that imports it at one of the commands that it sends to Redis: the one with the number
 * DROVER_CHAOS_CRASH_AT, counted from 1, of those that write and whose arguments or reply hold one of the texts of
 * DROVER_CHAOS_CRASH_MATCH (separated by commas). DROVER_CHAOS_CRASH_WHEN: `before` it is sent, also in the middle of
 * a pipeline; or `after` Redis has answered and before the process has read that. Without a number it only counts,
 * into the file that DROVER_CHAOS_CRASH_COUNT names.
 */
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";

const { DROVER_CHAOS_CRASH_AT, DROVER_CHAOS_CRASH_MATCH, DROVER_CHAOS_CRASH_WHEN, DROVER_CHAOS_CRASH_COUNT } =
  process.env;
const target = Number(DROVER_CHAOS_CRASH_AT ?? 0);
const texts = (DROVER_CHAOS_CRASH_MATCH ?? "").split(",").filter(Boolean);

/** Commands that change nothing, and those that only listen. */
const HARMLESS = new Set([
  ...[
    "hget",
    "hmget",
    "hgetall",
    "hkeys",
    "get",
    "exists",
    "smembers",
    "xrange",
    "zrange",
    "zscore",
    "lrange",
  ],
  ...["time", "ping", "info", "auth", "select", "client", "subscribe", "unsubscribe", "bzpopmin", "script"],
]);

// ioredis is CommonJS: whoever requires or imports it gets these very classes.
const { Command, Redis } = createRequire(import.meta.url)("ioredis");
const send = Redis.prototype.sendCommand;
const seen = new WeakSet();
let count = 0;
let isSilent = false;

const die = () => process.kill(process.pid, "SIGKILL");

const holds = (value) => {
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.some(holds);
  const text = Buffer.isBuffer(value) ? value.toString("latin1") : String(value);
  return texts.some((one) => text.includes(one));
};

const isTarget = (name) => {
  count += 1;
  if (DROVER_CHAOS_CRASH_COUNT) appendFileSync(DROVER_CHAOS_CRASH_COUNT, `${count} ${name}\n`);
  return count === target;
};

/** Acts on the reply of a command, ahead of everybody who waits for it. */
const onReply = (command, act) => {
  const { resolve } = command;
  command.resolve = (reply) => {
    act(reply);
    resolve.call(command, reply);
  };
};

/** From now on nothing more is sent; the process ends when what went before has been answered. */
function fallSilent(redis, stream) {
  isSilent = true;
  return sendNothing(redis, stream);
}

/** A pipeline waits until each of its commands is written: another one is, which does nothing. */
function sendNothing(redis, stream) {
  const nothing = new Command("ping", []);
  nothing.promise.then(die, die);
  send.call(redis, nothing, stream);
  return new Promise(() => {});
}

Redis.prototype.sendCommand = function (command, stream) {
  if (isSilent) return sendNothing(this, stream);
  // A command that waited for a connection passes here again.
  if (seen.has(command) || HARMLESS.has(command.name)) return send.call(this, command, stream);
  seen.add(command);
  if (!holds(command.args)) {
    // A job that the queue gives out: nobody could name it before.
    onReply(command, (reply) => holds(reply) && isTarget(`${command.name} (reply)`) && die());
  } else if (isTarget(command.name)) {
    if (DROVER_CHAOS_CRASH_WHEN === "before") return fallSilent(this, stream);
    onReply(command, die);
  }
  return send.call(this, command, stream);
};
