export { assertUsable, type EndReason, endReason } from "./answer.js";
export { classifyModelError, type ModelFailure } from "./failure.js";
export { DEFAULT_TIMEOUT_MS, type ModelOptions, modelOptionsSchema } from "./options.js";
export { costOf, loadPrices, type Prices } from "./prices.js";
export { type Environment, type OfflineModels, resolveModel } from "./resolve.js";
export { modelName, type Tokens, tokensOf, usageOfCall } from "./usage.js";
