export * from "./errors.js";
export * from "./lease.js";
export * from "./redactor.js";
