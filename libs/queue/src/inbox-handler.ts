/**
 * What becomes of one message of the inbox. The same code as the client's admits, answers, cancels and retries. A
 * message may come twice, and its handling may be cut short at any point: what it does is bound to its id where it
 * does it, so that doing it again gives the same result and the same replies.
 */
import {
  type AcceptedMessage,
  type Answer,
  DEFAULT_TENANT,
  DroverError,
  type ErrorInfo,
  isDroverError,
  isFinal,
  isStoreFailure,
  type MessageType,
  messageSchema,
  type Notice,
  nameSchema,
  parseOrThrow,
  type Redactor,
  replyQueueSchema,
} from "@drover/contracts";
import { asDroverError, type RunRef, type State, unknownRun } from "@drover/state";
import type { AdmissionOptions } from "./admission.js";
import { type AnswerReader, answerApproval, getApproval } from "./approvals.js";
import { refusedId } from "./notices.js";
import { cancelRun, retryRun } from "./run-control.js";
import { noticeOfRun } from "./run-notice.js";
import type { RunQueue } from "./run-queue.js";
import { keyFor, type ServiceKeys } from "./service-keys.js";
import { openMessage, peek } from "./signed-message.js";
import { assertMayBeUnsigned } from "./signing-rules.js";
import { startRuns } from "./start-runs.js";

const DEFECT: ErrorInfo = {
  code: "INTERNAL",
  message:
    "The message met a defect in Drover; the worker's log says more. It is kept among the dead letters.",
};

export interface InboxContext {
  state: State;
  queue: RunQueue;
  admission: AdmissionOptions;
  read: AnswerReader;
  keys: ServiceKeys;
  /** Whether this worker has the agent: only then it knows its rules. */
  hasAgent: (agent: string) => boolean;
  /** Rules of every agent that is known here, for bodies that nobody understands. */
  redactAll: Redactor;
  /** Told of each message once it was handled. */
  onHandled: (type: MessageType | "unknown", outcome: "admitted" | "refused") => void;
  /** Told of what is thrown and has no code: its cause is not for the sender. */
  onDefect: (error: unknown) => void;
}

/** elsewhere: a worker that has the agent must handle it. */
export type Handled = "done" | "elsewhere";

/** @param mayPass whether the message may still be left to another worker */
export async function handleMessage(
  context: InboxContext,
  body: unknown,
  mayPass: boolean,
): Promise<Handled> {
  const { state, keys } = context;
  let type: MessageType | "unknown" = "unknown";
  try {
    const opened = openMessage(body, keys, await state.indexes.now());
    const message = parseOrThrow(messageSchema, opened.body, "The message", "INVALID_MESSAGE");
    type = message.type;
    if (opened.service !== null && !keyFor(keys, opened.service, message.tenant)) {
      throw new DroverError(
        "BAD_SIGNATURE",
        `The message is refused: the key of '${opened.service}' is not for tenant '${message.tenant}'.`,
      );
    }
    const agent = await agentOf(context, message);
    const { names, terms } = await context.admission.knownAgents([agent]);
    if (opened.service === null) await assertMayBeUnsigned(state, message, agent, terms);
    if (needsAgent(message) && !context.hasAgent(agent)) {
      if (names.includes(agent) && mayPass) return "elsewhere";
      if (names.includes(agent)) {
        throw new DroverError(
          "AGENT_NOT_AVAILABLE",
          `No worker that reads the inbox has the agent '${agent}'.`,
        );
      }
    }
    await act(context, message, opened.service);
    context.onHandled(type, "admitted");
  } catch (thrown) {
    const error = asDroverError(thrown);
    if (isStoreFailure(error)) throw error;
    if (!isDroverError(error)) context.onDefect(error);
    await refuse(context, body, isDroverError(error) ? error.toInfo() : DEFECT);
    context.onHandled(type, "refused");
  }
  return "done";
}

/** The agent that the message is about. */
async function agentOf({ state }: InboxContext, message: AcceptedMessage): Promise<string> {
  switch (message.type) {
    case "run.start":
      return message.request.agent;
    case "run.resume":
      return (await getApproval(state, await approvalIdOf(state, message), message.tenant)).agent;
    case "run.cancel":
    case "run.retry": {
      const run = await state.reader.run(await state.indexes.locate(message.runId, message.tenant), false);
      if (run) return run.agent;
      throw unknownRun(message.runId);
    }
  }
}

/** Whether the agent's rules or tools are needed to do what the message asks. */
function needsAgent(message: AcceptedMessage): boolean {
  switch (message.type) {
    case "run.start":
    case "run.resume":
      return true;
    case "run.cancel":
      return message.reason !== undefined;
    case "run.retry":
      return false;
  }
}

async function act(context: InboxContext, message: AcceptedMessage, service: string | null): Promise<void> {
  const { state, queue, admission, read } = context;
  const { id, tenant } = message;
  switch (message.type) {
    case "run.start":
      return start(context, message);
    case "run.resume": {
      const approvalId = await approvalIdOf(state, message);
      const approval = await answerApproval(state, queue, approvalId, tenant, answerOf(message), {
        read,
        redactorOf: admission.redactorOf,
        audit: { door: "message", service, verified: service !== null, messageId: id },
        onVersionMismatch: message.onVersionMismatch,
      });
      return tellAdmitted(context, message, approval);
    }
    case "run.cancel": {
      const run = await state.indexes.locate(message.runId, tenant);
      const { redactorOf } = admission;
      await cancelRun(state, queue, run, { reason: message.reason, redactorOf, messageId: id });
      return tellAdmitted(context, message, run);
    }
    case "run.retry": {
      const run = await state.indexes.locate(message.runId, tenant);
      await retryRun(state, queue, run, id);
      return tellAdmitted(context, message, run);
    }
  }
}

type Start = Extract<AcceptedMessage, { type: "run.start" }>;
type Resume = Extract<AcceptedMessage, { type: "run.resume" }>;

/** The message's id is the request's idempotency key, unless it has one. */
async function start({ state, queue, admission }: InboxContext, message: Start): Promise<void> {
  const { id, tenant, replyTo, request } = message;
  const [accepted] = await startRuns(
    state,
    queue,
    [
      {
        ...request,
        tenant,
        idempotencyKey: request.idempotencyKey ?? `message:${id}`,
        replyTo: request.replyTo ?? replyTo,
        correlationId: request.correlationId ?? id,
      },
    ],
    admission,
  );
  const to = replyTo ?? request.replyTo;
  // A new run's notices follow from its transitions, and go to whom the request names.
  const isTold = !accepted?.existed && (request.replyTo ?? to) === to;
  if (!accepted || isTold || to === undefined) return;
  const run = await state.reader.run(accepted.run);
  if (!run) return;
  const known = { correlationId: request.correlationId ?? id, behind: accepted.behind };
  await queue.notices.reply(state, to, noticeOfRun("request.admitted", run, [], known));
  // Who sends a message again asks how it stands.
  if (!accepted.existed) return;
  if (isFinal(run.status)) await queue.notices.reply(state, to, noticeOfRun("run.final", run, [], known));
  if (run.status === "interrupted") {
    const waiting = (await state.reader.approvals(run)).filter((a) => a.status === "pending");
    await queue.notices.reply(state, to, noticeOfRun("run.interrupted", run, waiting, known));
  }
}

async function approvalIdOf(
  state: State,
  { approvalId, runId, interruptId, tenant }: Resume,
): Promise<string> {
  if (approvalId !== undefined) return approvalId;
  const approvals = await state.reader.approvals(await state.indexes.locate(runId ?? "", tenant));
  const found = approvals.filter((a) => a.interruptId === interruptId).at(-1);
  if (found) return found.approvalId;
  throw new DroverError(
    "UNKNOWN_APPROVAL",
    `Run ${runId} has no question of the interrupt '${interruptId}'.`,
  );
}

function answerOf({ decisions, value, decidedBy, comment }: Resume): Answer {
  const who = { ...(decidedBy ? { decidedBy } : {}), ...(comment ? { comment } : {}) };
  return decisions ? { decisions, ...who } : { value, ...who };
}

async function tellAdmitted(
  { state, queue }: InboxContext,
  { id, type, tenant, replyTo }: AcceptedMessage,
  run: RunRef,
): Promise<void> {
  if (replyTo === undefined) return;
  const found = await state.reader.run(run, false);
  await queue.notices.reply(state, replyTo, {
    v: 1,
    id: `message-${tenant}-${id}-admitted`,
    type: "request.admitted",
    request: type,
    tenant,
    correlationId: id,
    at: await state.indexes.now(),
    runId: run.runId,
    threadId: run.threadId,
    agent: found?.agent ?? "",
    behind: null,
  });
}

/** Tells the sender, and keeps the message where that can't be done or where it was no message at all. */
async function refuse(
  { state, queue, redactAll }: InboxContext,
  body: unknown,
  error: ErrorInfo,
): Promise<void> {
  const inner = peek(body);
  const field = (name: string): unknown =>
    typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[name] : undefined;
  const replyTo = replyQueueSchema.safeParse(field("replyTo")).data;
  const tenant = nameSchema.safeParse(field("tenant")).data ?? DEFAULT_TENANT;
  const id = typeof field("id") === "string" ? String(field("id")).slice(0, 256) : null;
  const request = typeof field("type") === "string" ? String(field("type")).slice(0, 64) : null;
  const at = await state.indexes.now();
  const safe: ErrorInfo = { code: error.code, message: shown(error.message, redactAll) };
  let letter = "";
  if (
    replyTo === undefined ||
    error.code === "INVALID_MESSAGE" ||
    error.code === "BAD_SIGNATURE" ||
    error === DEFECT
  ) {
    const kept = inner ?? body;
    letter = (await state.deadLetters.add(tenant, safe, bodyText(kept, redactAll), at)).id;
  }
  if (replyTo === undefined) return;
  const notice: Notice = {
    v: 1,
    id: refusedId(id === null ? letter : `${tenant}/${id}`, safe),
    type: "request.refused",
    request,
    tenant,
    correlationId: id,
    at,
    error: safe,
  };
  await queue.notices.reply(state, replyTo, notice);
}

/** The body as JSON, without what any agent's rules take out. */
function bodyText(body: unknown, redactor: Redactor): string {
  try {
    return JSON.stringify(redactor.value(body, "input")) ?? "null";
  } catch {
    return JSON.stringify("A rule of an agent blocks what this message holds; it was not kept.");
  }
}

function shown(message: string, redactor: Redactor): string {
  try {
    return redactor.text(message, "error");
  } catch {
    return "The reason holds what a rule of an agent blocks.";
  }
}
