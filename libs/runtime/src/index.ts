export {
  type AgentDefinition,
  type AgentSpec,
  defineAgent,
  isAgentDefinition,
  toolNamesOf,
} from "./agent/define-agent.js";
export type { ModelSpec, ModelWithOptions } from "./agent/model-spec.js";
export type { MiddlewareEntry, Place } from "./agent/placement.js";
export { resumeValue, validateAnswer } from "./answer/validate-answer.js";
export type { Behaviour, Moment } from "./describe/behaviours.js";
export { type AgentDescription, describeAgent } from "./describe/describe-agent.js";
export type { Origin, Setting } from "./describe/settings.js";
export { execute } from "./execute/execute.js";
export type { Services } from "./execute/services.js";
export type { FleetPolicy } from "./fleet/read.js";
export { type AgentRegistry, type LoadOptions, loadAgents, registryOf } from "./load/load-agents.js";
export { type LoadedAgent, loadDefinition, piiRulesOf } from "./load/loaded-agent.js";
export * from "./models/index.js";
export * from "./offline/index.js";
export { type Reconcile, type Reconciled, withReconcile } from "./policy/once.js";
export type {
  CallInQuestion,
  Describe,
  EffectivePolicy,
  Guard,
  OnFailure,
  OnToolError,
  PiiDetector,
  PiiRule,
  Policy,
  TokenCounter,
  WhenPredicate,
} from "./policy/policy.js";
export type { RetryOn } from "./policy/retry-on.js";
