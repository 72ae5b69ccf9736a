import { fileURLToPath } from "node:url";
import type { ErrorCode, Run } from "@drover/contracts";
import type { LedgerLine } from "./ledger.js";

/** What the harness gives an agent: the agent writes `run` and `thread` into the ledger. */
export interface Task {
  run: string;
  thread: string;
  /** Milliseconds that a step or a tool takes. */
  ms: number;
}

/** An agent under test and what is known of it. */
export interface ChaosAgent {
  name: string;
  input: (task: Task) => string | Record<string, unknown>;
  /** How often it is chosen, against the others. Default 1. */
  weight?: number;
  /** Questions that each run of it asks, one after the other. */
  questions?: number;
  /** Whether a tool marked once may end with an outcome that nobody knows: then a run may end with EFFECT_UNKNOWN. */
  mayNotKnow?: boolean;
  /** Codes of errors with which a run may end by itself: of its limits, of a provider that fails at times. */
  mayEndWith?: readonly ErrorCode[];
  /** Requests to the model that a thread may make, of all its runs. */
  threadModelCalls?: number;
  /** The environment of all workers, beside the harness's own: keys, files, DROVER_POLICY. */
  env?: Record<string, string>;
  /** For crash points: how often tools marked once were started for a run, where they do not write to the ledger. */
  effectsOf?: (run: string) => number;
  /** Whether a run that ended with success shows whose answer it was given to a question of its graph's own. */
  shows?: (run: Run, by: string) => boolean;
  /** What is wrong with a run that ended with success; empty if nothing is. */
  wrong?: (run: Run, task: Task, lines: readonly LedgerLine[]) => string[];
}

export const builtInProject = fileURLToPath(new URL("../project/", import.meta.url));

const asText = (task: Task): string => JSON.stringify(task);
const asState = (task: Task): Record<string, unknown> => ({ ...task });

const has =
  (output: (task: Task) => unknown): NonNullable<ChaosAgent["wrong"]> =>
  (run, task) => {
    const found = stepsOf(run.output) ?? run.output;
    const expected = output(task);
    if (JSON.stringify(found) === JSON.stringify(expected)) return [];
    return [`the output is ${JSON.stringify(found)} where ${JSON.stringify(expected)} was due`];
  };

function stepsOf(output: unknown): unknown {
  return typeof output === "object" && output !== null && "steps" in output ? output.steps : undefined;
}

/** The agents of project/agents.mjs. */
export const builtInAgents: readonly ChaosAgent[] = [
  { name: "steps", weight: 3, input: asState, wrong: has(() => ["one", "two", "three", "four"]) },
  { name: "nested", input: asState, wrong: has(() => ["before", "in-1", "in-2", "after"]) },
  { name: "poster", weight: 2, input: asText, mayNotKnow: true, wrong: has(({ run }) => `post for ${run}`) },
  {
    name: "parallel",
    weight: 2,
    input: asText,
    mayNotKnow: true,
    wrong: has(({ run }) => ["look", "book", "count"].map((tool) => `${tool} for ${run}`).join(" | ")),
  },
  { name: "approver", weight: 2, input: asText, questions: 1, mayNotKnow: true },
  {
    name: "asker",
    input: asState,
    questions: 2,
    shows: ({ output }, by) => JSON.stringify(output).includes(`: ${by}`),
  },
  { name: "limited", weight: 2, input: asText, threadModelCalls: 5 },
  { name: "flaky", input: asText, wrong: has(({ run }) => `look for ${run}`) },
];

/** Those that are killed at every command: a chain, graphs in a graph, tools at once, an approval, and all in one. */
export const crashPointAgents: readonly ChaosAgent[] = [
  ...builtInAgents.filter(({ name }) => ["steps", "nested", "parallel", "approver"].includes(name)),
  { name: "team", input: asText, questions: 1 },
];
