export type { PiiDetectorFunction } from "./custom-function.js";
export { BUILT_IN_DETECTORS } from "./detectors/index.js";
export { createFinder, type Finder, type Finding } from "./finder.js";
export type { Detector, Match } from "./match.js";
export { createRedactor, type RedactorOptions } from "./redactor.js";
export type { PiiRule } from "./rules.js";
