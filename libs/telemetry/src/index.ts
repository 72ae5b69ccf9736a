export * from "./complaints.js";
export * from "./event-loop.js";
export * from "./logger.js";
export type * from "./metric-spec.js";
export * from "./metrics.js";
export * from "./metrics-page.js";
export * from "./metrics-table.js";
export * from "./probes.js";
export { hideSecrets } from "./secrets.js";
