import { DroverError, parseOrThrow, type Run, threadIdSchema } from "@drover/contracts";
import type { Client } from "@drover/queue";
import type { Command } from "commander";
import { act, type Cli } from "../cli.js";
import { withConnection } from "../connection.js";
import type { ExitCode } from "../exit-codes.js";
import { whole } from "../options.js";
import { ago, count, counted } from "../output/format.js";
import type { Output } from "../output/output.js";
import { brief, fit } from "../output/text.js";
import { eraseThread } from "./erase.js";
import { printRuns } from "./runs.js";

export function add(program: Command): void {
  const threads = program.command("threads").description("Looks into conversations.");
  threads
    .command("show")
    .description("Shows a thread: its state, its last messages and its runs.")
    .argument("<thread id>")
    .option("-m, --messages <number>", "how many of the last messages", whole(0, 10_000), 10)
    .addHelpText("after", "\nExample:\n  $ drover threads show customer-4711 --messages 3")
    .action(act(show));
  threads
    .command("erase")
    .description("Removes every trace of a thread. It can't be undone.")
    .argument("<thread id>")
    .addHelpText("after", "\nExample:\n  $ drover threads erase customer-4711")
    .action(act(eraseThread));
}

/** Checkpoints that are looked through for the thread's runs. */
const MOST_CHECKPOINTS = 1000;

interface ShownMessage {
  type: string;
  text: string;
  toolCalls: string[];
}

interface ThreadState {
  checkpoints: number;
  createdAt: string;
  /** Whether it waits for a person. */
  isInterrupted: boolean;
  channels: string[];
  messages: ShownMessage[];
  runIds: string[];
}

async function show(
  cli: Cli,
  given: string,
  { messages }: { messages: number },
): Promise<ExitCode | undefined> {
  const { out } = cli;
  const threadId = parseOrThrow(threadIdSchema, given, "The thread id");
  return withConnection(cli, {}, async ({ client }) => {
    const keys = client.state.keys.thread(client.tenant, threadId);
    const { readCounters } = await import("@drover/state");
    const { redis, keys: names } = client.state;
    const thread = { tenant: client.tenant, threadId };
    const [state, current, lane, counters] = await Promise.all([
      readState(client, threadId),
      client.state.redis.hget(keys.thread, "current"),
      client.state.redis.lrange(keys.lane, 0, -1),
      readCounters(redis, names, thread),
    ]);
    const ids = [...new Set([...(state?.runIds ?? []), ...(current ? [current] : []), ...lane])];
    const runs = await readRuns(client, threadId, ids);
    if (!state && runs.length === 0) {
      throw new DroverError("UNKNOWN_THREAD", `There is no thread '${threadId}', or its time is over.`);
    }
    const { runIds: _, ...shown } = state ?? { runIds: [] };
    out.value({ threadId, state: state ? shown : null, current, lane, counters, runs });
    out.fields([
      ["thread", brief(threadId)],
      ["current run", current],
      ["waiting runs", lane.length > 0 ? count(lane.length) : ""],
      [
        "checkpoints",
        state && `${counted(state.checkpoints, "checkpoint")}, the last ${ago(Date.parse(state.createdAt))}`,
      ],
      [
        "taken",
        Object.entries(counters)
          .map(([name, taken]) => `${name} ${count(taken)}`)
          .join(", "),
      ],
      ["state", state?.channels.join(", ")],
      ["waits for", state?.isInterrupted ? "a person" : ""],
    ]);
    if (state) printMessages(out, state.messages, messages);
    if (runs.length > 0) {
      out.line();
      printRuns(out, runs);
    }
    return undefined;
  });
}

async function readState(client: Client, threadId: string): Promise<ThreadState | null> {
  const { RedisSaver } = await import("@drover/state/checkpoints");
  const { redis, keys, codec } = client.state;
  const saver = new RedisSaver({ redis, keys, tenant: client.tenant, ...(codec ? { codec } : {}) });
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  const tuple = await saver.getTuple(config);
  if (!tuple) return null;
  const runIds: string[] = [];
  let checkpoints = 0;
  for await (const { metadata } of saver.list(config, { limit: MOST_CHECKPOINTS })) {
    checkpoints += 1;
    const runId = (metadata as { run_id?: unknown } | undefined)?.run_id;
    if (typeof runId === "string" && !runIds.includes(runId)) runIds.push(runId);
  }
  const values = tuple.checkpoint.channel_values;
  return {
    checkpoints,
    createdAt: tuple.checkpoint.ts,
    isInterrupted: (tuple.pendingWrites ?? []).some(([, channel]) => channel === "__interrupt__"),
    channels: Object.keys(values).filter((channel) => !channel.includes(":") && !channel.startsWith("__")),
    messages: messagesIn(values.messages),
    runIds: runIds.reverse(),
  };
}

function messagesIn(value: unknown): ShownMessage[] {
  if (!Array.isArray(value)) return [];
  return value.map((message: { type?: unknown; text?: unknown; tool_calls?: { name: string }[] }) => ({
    type: String(message.type ?? ""),
    text: typeof message.text === "string" ? message.text : "",
    toolCalls: (message.tool_calls ?? []).map(({ name }) => name),
  }));
}

function printMessages(out: Output, messages: readonly ShownMessage[], limit: number): void {
  if (messages.length === 0 || limit === 0) return;
  out.line();
  if (messages.length > limit)
    out.line(out.colours.dim(`${counted(messages.length - limit, "earlier message")}`));
  for (const { type, text, toolCalls } of messages.slice(-limit)) {
    const calls = toolCalls.length > 0 ? `calls ${toolCalls.join(", ")}` : "";
    out.line(
      `${out.colours.bold(type.padEnd(6))} ${fit([brief(text), calls].filter(Boolean).join("  "), 160)}`,
    );
  }
}

async function readRuns(client: Client, threadId: string, ids: readonly string[]): Promise<Run[]> {
  const { reader } = client.state;
  const found = await Promise.all(
    ids.map((runId) => reader.run({ tenant: client.tenant, threadId, runId }, false)),
  );
  return found.filter((run): run is Run => run !== null);
}
