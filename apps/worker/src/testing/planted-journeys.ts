import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Answer,
  type Approval,
  isDroverError,
  type RedactionStrategy,
  type Run,
  type RunRequest,
} from "@drover/contracts";
import { LOUD, type Scene } from "./planted-scene.js";
import { plantedOn, plantedText, type Road } from "./planted-values.js";
import { createSender, type Sender } from "./sender.js";

export type Strategy = RedactionStrategy | "none";

/** How runs are started, answered and ended. `start` gives a run's id, or the code with which it was refused. */
export interface Door {
  start(request: RunRequest): Promise<{ runId: string } | { refused: string }>;
  decide(approval: Approval, answer: Answer): Promise<void>;
  cancel(runId: string, reason: string): Promise<void>;
}

const WAIT_MS = 60_000;

const tagsOf = (road: Road) => Object.values(plantedOn(road)).filter((value) => /^[\w.-]+$/.test(value));

/** A request that sends the values of these roads on their way. */
export function requestFor(roads: readonly Road[], strategy: Strategy): RunRequest {
  const has = (road: Road) => roads.includes(road);
  const kind = has("reasoning") ? "thinker" : has("structured_output") ? "former" : "worker";
  const said = has("input") ? ` ${plantedText("input")}` : "";
  const text = plantedText("metadata");
  const context = { customer: { text: plantedText("context"), list: [plantedText("context")] } };
  return {
    agent: `${kind}_${strategy}`,
    input: `do:${roads.join("+")}${said}`,
    maxAttempts: 1,
    ...LOUD,
    ...(has("context") ? { context } : {}),
    ...(has("metadata") ? { metadata: { [text]: { note: [text] } } } : {}),
    ...(has("tags") ? { tags: tagsOf("tags") } : {}),
    ...(has("document") ? { document: plantedText("document") } : {}),
  };
}

/** What is answered to the question of a run on these roads. */
function answerOn(roads: readonly Road[]): Answer {
  const has = (road: Road) => roads.includes(road);
  if (has("question")) return { value: "fine" };
  if (has("answer")) return { value: { told: plantedText("answer") } };
  const [decision] = [
    ...(has("edit")
      ? [{ type: "edit" as const, editedAction: { name: "pay", args: { text: plantedText("edit") } } }]
      : []),
    ...(has("respond") ? [{ type: "respond" as const, message: plantedText("respond") }] : []),
    ...(has("comment") ? [{ type: "reject" as const, message: plantedText("comment") }] : []),
    { type: "approve" as const },
  ];
  return {
    decisions: [decision ?? { type: "approve" }],
    ...(has("comment") ? { comment: plantedText("comment") } : {}),
    ...(has("decided_by") ? { decidedBy: plantedOn("decided_by").email } : {}),
  };
}

/** Roads that one run can take together. A rule that blocks ends a run at the first: there each has a run of its own. */
const TOGETHER: readonly (readonly Road[])[] = [
  [
    "input",
    "context",
    "metadata",
    "tags",
    "document",
    "tool_args",
    "tool_result",
    "artifact",
    "file",
    "memory",
    "custom_event",
    "handled_error",
    "once",
    "subagent",
    "output",
  ],
  ["approval", "edit", "decided_by"],
  ["respond"],
  ["comment"],
  ["question"],
  ["answer"],
  ["cancel_reason"],
  ["broken_args"],
  ["reasoning"],
  ["structured_output"],
  ["fatal_error"],
  ["provider_error"],
];
const journeysOf = (strategy: Strategy) =>
  strategy === "block" ? TOGETHER.flat().map((road): readonly Road[] => [road]) : TOGETHER;

/** Asks until the indexes know what its thread's slot has told already. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isUnknown = isDroverError(error, "UNKNOWN_RUN") || isDroverError(error, "UNKNOWN_APPROVAL");
      if (!isUnknown || Date.now() > end) throw error;
      await sleep(50);
    }
  }
}

/** Waits for a run's end, or until it asks. */
export async function resultOf({ client }: Scene, runId: string): Promise<Run> {
  const handle = await patiently(() => client.run(runId));
  return handle.result({ timeoutMs: WAIT_MS });
}

/** Sends the values of some roads on their way; gives what became of it in a word. */
async function play(scene: Scene, door: Door, roads: readonly Road[], strategy: Strategy): Promise<string> {
  const started = await door.start(requestFor(roads, strategy));
  if ("refused" in started) return started.refused;
  let run = await resultOf(scene, started.runId);
  if (run.status === "interrupted") {
    const approval = await patiently(() => scene.client.approval(run.approvals[0] ?? ""));
    const refused = roads.includes("cancel_reason")
      ? await door.cancel(run.runId, plantedText("cancel_reason"))
      : await door.decide(approval, answerOn(roads)).catch((error: { code: string }) => error.code);
    if (typeof refused === "string") return refused;
    run = await resultOf(scene, run.runId);
  }
  return run.error?.code ?? run.status;
}

/** All journeys of the strategies at once, or those that begin with a road of `only`; gives ends by `strategy road`. */
export async function playAll(
  scene: Scene,
  door: Door,
  strategies: readonly Strategy[],
  only?: readonly Road[],
): Promise<Record<string, string>> {
  const all = strategies.flatMap((strategy) =>
    journeysOf(strategy)
      .filter(([first]) => only === undefined || (first !== undefined && only.includes(first)))
      .map((roads) => ({ strategy, roads })),
  );
  const ends = await Promise.all(
    all.map(
      async ({ strategy, roads }) =>
        [`${strategy} ${roads[0]}`, await play(scene, door, roads, strategy)] as const,
    ),
  );
  return Object.fromEntries(ends);
}

const refusal = (error: { code: string }) => ({ refused: error.code });

/** Drover's own client, in a process that has the rules. */
export function libraryOf({ client, receiver }: Scene): Door {
  return {
    start: (request) =>
      client
        .enqueueRun({ ...request, webhook: { url: `${receiver.url}/hook` } })
        .then(({ runId }) => ({ runId }), refusal),
    decide: async (approval, answer) => {
      await client.decide(approval.approvalId, answer);
    },
    cancel: (runId, reason) => client.cancelRun(runId, reason),
  };
}

/** A service that knows nothing of Drover, and nothing of any rule: its messages are raw. */
export function queueOf({ redis, prefix }: Scene): Door & { sender: Sender } {
  const sender = createSender(redis.url, prefix);
  const send = async (message: object): Promise<{ runId: string }> => {
    const id = randomUUID();
    await sender.send({ v: 1, id, replyTo: sender.replyTo, ...message });
    const isReply = (type: string) => type === "request.admitted" || type === "request.refused";
    const told = await sender.notice((n) => n.correlationId === id && isReply(n.type), WAIT_MS);
    if (told.type === "request.refused") throw Object.assign(new Error("refused"), { code: told.error.code });
    return told as { runId: string };
  };
  return {
    sender,
    start: (request) => send({ type: "run.start", request }).then(({ runId }) => ({ runId }), refusal),
    decide: async ({ approvalId }, answer) => {
      await send({ type: "run.resume", approvalId, ...answer });
    },
    cancel: async (runId, reason) => {
      await send({ type: "run.cancel", runId, reason });
    },
  };
}
