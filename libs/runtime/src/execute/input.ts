import { type Activation, DroverError } from "@drover/contracts";
import { HumanMessage } from "@langchain/core/messages";
import { type BaseCheckpointSaver, Command } from "@langchain/langgraph";
import type { CompiledGraph } from "../agent/compiled-graph.js";

/**
 * What the graph is given, by what the thread's head says.
 *
 * - The answers of a decision, while the head is still the checkpoint that asked.
 * - Else the run's input. Where the head was written by this very run, LangGraph takes that as "go on" and drops
 *   the input, because `metadata.run_id` is the same on both: so a takeover, a hand-over, a retry and a start that
 *   was delivered twice need no rule of their own. (A test guards this rule of LangGraph's.)
 *
 * @throws DroverError INVALID_INPUT
 */
export async function loadInput(
  graph: CompiledGraph,
  activation: Activation,
  checkpointer: BaseCheckpointSaver,
): Promise<unknown> {
  const answers = await pendingAnswers(activation, checkpointer);
  if (answers !== undefined) return new Command({ resume: answers });
  return freshInput(graph, activation);
}

/** Channels that are the graph's own: an input that sets them would steer it past its policy. */
const INTERNAL_CHANNEL = /^(?:__.*|.*:.*|jumpTo|structuredResponse)$/;

function freshInput(graph: CompiledGraph, { agent, input }: Activation): Record<string, unknown> {
  const keys = Object.keys(graph.channels).filter((key) => !INTERNAL_CHANNEL.test(key));
  if (typeof input === "string") {
    if (keys.includes("messages")) return { messages: [new HumanMessage(input)] };
    throw new DroverError(
      "INVALID_INPUT",
      `The agent '${agent}' takes no text: give it an object with some of the keys ${keys.join(", ")}.`,
    );
  }
  const given = Object.keys(input);
  const unknown = given.filter((key) => !keys.includes(key));
  if (given.length > 0 && unknown.length === 0) return input;
  throw new DroverError(
    "INVALID_INPUT",
    given.length === 0
      ? `The input is empty; the agent '${agent}' reads ${keys.join(", ")}.`
      : `The agent '${agent}' does not read ${unknown.join(", ")}; it reads ${keys.join(", ")}.`,
  );
}

/** Writes of a task that do not say that it is done. */
const UNFINISHED = new Set(["__interrupt__", "__resume__", "__error__", "__error_source_node__"]);

/**
 * The answers whose questions still wait. A worker that died after a decision may have stored the results of some
 * of the tasks that asked, on the same checkpoint: those are not asked again.
 */
async function pendingAnswers(
  { threadId, resume }: Activation,
  checkpointer: BaseCheckpointSaver,
): Promise<Record<string, unknown> | undefined> {
  if (resume === null) return undefined;
  const head = await checkpointer.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: "" } });
  if (head?.checkpoint.id !== resume.checkpointId) return undefined;
  const writes = head.pendingWrites ?? [];
  const done = new Set(writes.filter(([, channel]) => !UNFINISHED.has(channel)).map(([task]) => task));
  const asked = writes
    .filter(([task, channel]) => channel === "__interrupt__" && !done.has(task))
    .flatMap(([, , interrupts]) => interrupts as { id?: string }[])
    .map(({ id }) => id);
  // A breakpoint of the graph's own has no interrupt, only the checkpoint's id.
  const waiting = new Set(asked.length > 0 ? asked : done.size > 0 ? [] : [resume.checkpointId]);
  const answers = Object.entries(resume.values).filter(([id]) => waiting.has(id));
  return answers.length > 0 ? Object.fromEntries(answers) : undefined;
}
