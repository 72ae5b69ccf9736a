/** Sees the true cause of a failure, never a wrapper. A list names the classes whose errors are tried again. */
export type RetryOn = ((error: Error) => boolean) | ErrorClass[];

// biome-ignore lint/suspicious/noExplicitAny: a class of errors may be made of anything
export type ErrorClass = abstract new (...args: any[]) => Error;

export function isRetryOn(value: unknown): value is RetryOn {
  if (typeof value === "function") return true;
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "function");
}

/** By class, and by its name too: a tool's package may have a copy of its own. */
export function isRetried(retryOn: RetryOn, error: Error): boolean {
  if (!Array.isArray(retryOn)) return retryOn(error);
  const names = [error.name, error.constructor.name];
  return retryOn.some((kind) => error instanceof kind || names.includes(kind.name));
}
