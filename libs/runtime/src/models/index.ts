export { DEFAULT_TIMEOUT_MS, type ModelOptions, modelOptionsSchema } from "./options.js";
export { type Environment, type OfflineModels, resolveModel } from "./resolve.js";
