export { builtInAgents, type ChaosAgent, crashPointAgents, type Task } from "./agents.js";
export { type ChaosOptions, type ChaosResult, runChaos } from "./chaos.js";
export { type AgentCrashPoints, type CrashPointsOptions, runCrashPoints, type When } from "./crash-points.js";
export { explain, historyOf } from "./explain.js";
export type { Attempt, Happening, RunHistory } from "./history.js";
export { LEDGER_VARIABLE, type LedgerLine, note, readLedger } from "./ledger.js";
export { leftovers } from "./leftovers.js";
export type { ChaosEvent, Plan, PlannedEvent, PlannedRun } from "./plan.js";
export { type ChaosReport, FAULTS, type Fault, type FaultKind } from "./report.js";
