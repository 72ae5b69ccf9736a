import {
  DroverError,
  MULTITASK_STRATEGIES,
  parseOrThrow,
  type RunRequest,
  runRequestSchema,
} from "@drover/contracts";
import type { RunHandle } from "@drover/queue";
import { type Command, Option } from "commander";
import { assertKnown, localAgents, redactorOf } from "../agents.js";
import { printWaiting } from "../batch/summary.js";
import { readWaiting } from "../batch/waiting.js";
import { act, type Cli } from "../cli.js";
import { type Connection, withConnection } from "../connection.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { modelOf, offlineNotice } from "../offline.js";
import { gathered, jsonObject, milliseconds, whole } from "../options.js";
import { followRun } from "../run/follow-run.js";
import { type InputOptions, readInput } from "../run/input.js";
import { exitCodeOfRun, printOutput } from "../run/show-run.js";
import { fleetIfNeeded } from "../working-fleet.js";

interface RunOptions extends InputOptions {
  thread?: string;
  wait?: boolean;
  stream?: boolean;
  timeout?: number;
  context?: string;
  metadata?: string;
  priority?: number;
  delay?: number;
  deadline?: number;
  attempts?: number;
  key?: string;
  tag?: string[];
  multitask?: RunRequest["multitaskStrategy"];
  concurrencyKey?: string;
  concurrencyLimit?: number;
}

const HELP = `
Without --wait it prints the run's id and ends; the run goes on wherever a worker is.

Examples:
  $ drover run receipts --input "BLUE HERON STATIONERY … TOTAL RM 42.80" --wait
  $ drover run receipts --input @receipt.pdf --stream
  $ cat receipt.txt | drover run receipts --input - --wait --json
  $ drover run clerk --input "And the second one?" --thread customer-4711 --wait
  $ drover run clerk --input-json '{"messages": [{"role": "user", "content": "Hello"}]}'
  $ drover run clerk --input @report.md --delay 10m --deadline 2h --priority 0

Exit codes: 0 accepted, or with --wait the run succeeded; 1 the run failed or did not end in --timeout;
2 the input is not valid; 3 no such agent; 4 Redis is away; 5 the run waits for a person; 130 interrupted
(the run goes on).`;

export function add(program: Command): void {
  program
    .command("run")
    .description("Enqueues one run of an agent.")
    .argument("<agent>", "the agent's name")
    .option("-i, --input <text>", "what a person says: text, @file, or - for standard input")
    .option("--input-json <json>", "what the graph is given as it is: a JSON object, @file.json or -")
    .option("-t, --thread <id>", "the conversation to go on with; a new one if left out")
    .option("--wait", "wait for the result and print it")
    .option("--stream", "print what happens as it happens, then the result")
    .option("--timeout <time>", "how long to wait, for example 30s; the run itself goes on", milliseconds)
    .option("--context <json>", "the agent's runtime context, as JSON or @file.json")
    .option("--metadata <json>", "kept with the run, as JSON or @file.json")
    .option("--priority <0-10>", "0 runs first (default 5)", whole(0, 10))
    .option("--delay <time>", "start no earlier than in this time", milliseconds)
    .option("--deadline <time>", "end the run after this time, whatever it does", milliseconds)
    .option("--attempts <number>", "tries in all when a fault may pass (default 3)", whole(1, 20))
    .option("--key <text>", "idempotency key: the same key and request give the same run")
    .option("--tag <name>", "a tag; may be repeated", gathered)
    .option("--concurrency-key <text>", "runs with the same key go one at a time")
    .option("--concurrency-limit <number>", "… or as many at a time", whole(1, 1_000_000))
    .addOption(
      new Option("--multitask <strategy>", "what to do if the thread is busy (default enqueue)").choices(
        MULTITASK_STRATEGIES,
      ),
    )
    .addHelpText("after", HELP)
    .action(act(run));
}

async function run(cli: Cli, agent: string, options: RunOptions): Promise<ExitCode | undefined> {
  const { config, out } = cli;
  const request = await requestOf(agent, options, config.cwd);
  const agents = await localAgents(config, config.redisUrl === undefined);
  const redact = await redactorOf(config, agents);
  return withConnection(cli, { create: true, redactorOf: redact }, async (connection) => {
    await assertKnown(agent, agents, connection.client);
    const waits = options.wait === true || options.stream === true;
    const notice = offlineNotice(modelOf(agent, agents));
    if (notice) out.note(notice);
    const fleet = await fleetIfNeeded(cli, connection, waits ? undefined : 0, 1);
    try {
      const handle = await connection.client.enqueueRun(request);
      if (waits) return await waitFor(cli, connection, handle, options);
      out.value({ runId: handle.runId, threadId: handle.threadId, behind: handle.behind });
      out.line(`Run ${handle.runId} on thread ${handle.threadId}`);
      if (handle.behind) out.line(`It waits behind run ${handle.behind} of its thread.`);
      out.line(`Follow it: ${config.invocation} runs tail ${handle.runId}`);
      return EXIT.ok;
    } finally {
      await fleet?.stop();
    }
  });
}

async function requestOf(agent: string, options: RunOptions, cwd: string): Promise<RunRequest> {
  const input = await readInput(options, cwd);
  const context = await jsonObject(options.context, "--context", cwd);
  const metadata = await jsonObject(options.metadata, "--metadata", cwd);
  const { thread, priority, delay, deadline, attempts, key, tag, multitask } = options;
  const given = {
    threadId: thread,
    priority,
    delayMs: delay,
    deadlineMs: deadline,
    maxAttempts: attempts,
    idempotencyKey: key,
    tags: tag,
    multitaskStrategy: multitask,
    concurrencyKey: options.concurrencyKey,
    concurrencyLimit: options.concurrencyLimit,
    streamMode: options.stream ? ["messages", "updates", "custom"] : undefined,
  };
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const request = { agent, input, context, metadata, ...set } as RunRequest;
  parseOrThrow(runRequestSchema, request, "The run");
  return request;
}

async function waitFor(
  cli: Cli,
  { client }: Connection,
  handle: RunHandle,
  { stream, timeout }: RunOptions,
): Promise<ExitCode | undefined> {
  const { out, config, interruption } = cli;
  const { signal } = interruption;
  if (!out.json) out.note(`Run ${handle.runId} on thread ${handle.threadId}`);
  const limit = timeout === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  const found = stream
    ? await followRun(cli, handle, { signal: limit, stopAtInterrupt: true })
    : await handle
        .result({ signal, ...(timeout === undefined ? {} : { timeoutMs: timeout }) })
        .catch((error: unknown) => {
          if (signal.aborted) return handle.status();
          throw error;
        });
  if (signal.aborted) {
    out.note(`The run goes on where a worker is. Follow it: ${config.invocation} runs tail ${handle.runId}`);
    return undefined;
  }
  if (limit.aborted) {
    throw new DroverError("RESULT_TIMEOUT", `Run ${handle.runId} is still ${found.status}; it goes on.`);
  }
  out.value(stream ? { type: "result", run: found } : found);
  const wasStreamed = stream === true && typeof found.output === "string";
  if (found.status === "success" && !wasStreamed) printOutput(out, found.output);
  else if (found.error) out.note(`${found.error.code}: ${found.error.message}`);
  const waiting = (await readWaiting(client, [found])) ?? [];
  printWaiting(out, waiting, config.invocation);
  return exitCodeOfRun(found);
}
