import type { Answer, Approval, RedactionPlace, Redactor } from "@drover/contracts";
import {
  handleMessage,
  Inbox,
  type InboxContext,
  knownAgentsOf,
  type RunQueue,
  Webhooks,
} from "@drover/queue";
import { type AgentRegistry, resumeValue, validateAnswer } from "@drover/runtime";
import type { Redis, State } from "@drover/state";
import type { Complaints, Logger, Metrics } from "@drover/telemetry";
import type { WorkerConfig } from "./config.js";
import { withOwnTerms } from "./own-terms.js";

export interface MessagesOptions {
  config: WorkerConfig;
  state: State;
  queue: RunQueue;
  registry: AgentRegistry;
  redactors: ReadonlyMap<string, Redactor>;
  redactorOf: (agent: string) => Redactor;
  /** One each: a connection that waits must not hold up another. */
  connections: { inbox: Redis; webhooks: Redis };
  logger: Logger;
  complaints: Complaints;
  metrics: Metrics;
}

/** What this worker does beside runs: it reads the inbox and posts webhooks. */
export interface Messages {
  start(): void;
  stop(): Promise<void>;
}

export function createMessages(options: MessagesOptions): Messages {
  const { config, state, connections, logger, complaints, metrics } = options;
  const context = inboxContext(options);
  const inbox = new Inbox({
    redis: connections.inbox,
    keys: state.keys,
    handle: (body, mayPass) => handleMessage(context, body, mayPass),
    onError: (error) => complaints.say(logger.warn, "a message of the inbox waits", error),
  });
  const webhooks = new Webhooks({
    redis: connections.webhooks,
    names: state.keys,
    codec: state.codec,
    keys: config.serviceKeys,
    allowPrivate: config.webhooksMayBePrivate,
    onDelivered: (ok) => metrics.inc("drover_webhooks_total", { outcome: ok ? "delivered" : "failed" }),
    onError: (error) => complaints.say(logger.warn, "the queue of webhooks", error),
  });
  return {
    start() {
      inbox.start();
      webhooks.start();
    },
    stop: async () => {
      await Promise.all([inbox.stop(), webhooks.stop()]);
    },
  };
}

/** Checks an answer by the agent's own tools where this worker has it. */
export const answerReader =
  (registry: AgentRegistry) =>
  (approval: Approval, answer: Answer): unknown =>
    resumeValue(approval, validateAnswer(approval, answer, agentIn(registry, approval.agent)));

const agentIn = (registry: AgentRegistry, name: string) =>
  registry.list().find((agent) => agent.name === name);

function inboxContext(options: MessagesOptions): InboxContext {
  const { config, state, queue, registry, redactors, redactorOf, logger, metrics } = options;
  const knownAgents = withOwnTerms(knownAgentsOf(state), registry.list());
  return {
    state,
    queue,
    admission: { maxPayloadBytes: config.maxPayloadBytes, redactorOf, knownAgents },
    read: answerReader(registry),
    keys: config.serviceKeys,
    hasAgent: (agent) => agentIn(registry, agent) !== undefined,
    redactAll: everyRuleOf([...redactors.values()]),
    onHandled: (type, outcome) => metrics.inc("drover_messages_total", { type, outcome }),
    onDefect: (error) => logger.error({ err: error }, "a message of the inbox met a defect"),
  };
}

/** Takes out what any of the agents would: for texts of which nobody knows whose they are. */
function everyRuleOf(redactors: readonly Redactor[]): Redactor {
  return {
    text: (text: string, place: RedactionPlace) => redactors.reduce((left, r) => r.text(left, place), text),
    value: <T>(value: T, place: RedactionPlace): T =>
      redactors.reduce((left, r) => r.value(left, place), value),
  };
}
