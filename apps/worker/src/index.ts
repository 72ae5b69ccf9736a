export { readConfig, type WorkerConfig, workerSettings } from "./config.js";
export { type RedactorsOptions, redactorsOf } from "./redactors.js";
export { type RunningWorker, startWorker, VERSION } from "./worker.js";
