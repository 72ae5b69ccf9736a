/** What the errors of the provider clients and of LangChain have in common, read without trusting their shape. */
export interface ErrorFacts {
  /** The class's name; LangChain and the clients often leave `name` at "Error". */
  className: string;
  name: string;
  message: string;
  /** An HTTP status. */
  status?: number;
  /** A code of Node's or undici's, such as ECONNREFUSED. */
  systemCode?: string;
  /** The provider's own name of the error, such as `overloaded_error`; never free text. */
  providerType?: string;
  header(name: string): string | undefined;
  retryAfterMs?: number;
}

/** The error and what caused it, outermost first. LangChain's middleware wraps what a model call throws. */
export function causesOf(error: unknown): object[] {
  const chain: object[] = [];
  let current: unknown = error;
  while (typeof current === "object" && current !== null && !chain.includes(current) && chain.length < 10) {
    chain.push(current);
    current = "cause" in current ? current.cause : undefined;
  }
  return chain;
}

export function factsOf(error: object): ErrorFacts {
  const fields = error as Record<string, unknown>;
  const name = typeof fields.name === "string" ? fields.name : "";
  const code = typeof fields.code === "string" ? fields.code : undefined;
  const systemCode =
    code !== undefined && /^(E[A-Z]+|UND_ERR_[A-Z_]+|EAI_[A-Z]+)$/.test(code) ? code : undefined;
  // OpenAI's code says more than its type. A failed response of its Responses API is an Error named by the code.
  const providerType =
    systemCode === undefined
      ? [code, fields.type, /^[a-z]+(_[a-z]+)+$/.test(name) ? name : undefined].find(isPlainWord)
      : undefined;
  const header = (wanted: string) => headerOf(fields.headers, wanted);
  const retryAfterMs = retryAfter(header, fields.retryAfterMs);
  return {
    className: error.constructor?.name ?? "",
    name,
    message: typeof fields.message === "string" ? fields.message : "",
    ...(typeof fields.status === "number" ? { status: fields.status } : {}),
    ...(systemCode === undefined ? {} : { systemCode }),
    ...(providerType === undefined ? {} : { providerType }),
    header,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Servers of all kinds fill these fields: what has spaces or is long may repeat a document or a key. */
function isPlainWord(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z][A-Za-z0-9_.]{0,59}$/.test(value);
}

function headerOf(headers: unknown, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  if (typeof headers !== "object" || headers === null) return undefined;
  const value = (headers as Record<string, unknown>)[name];
  return typeof value === "string" ? value : undefined;
}

/** Retry-After is seconds or an HTTP date (RFC 9110, 10.2.3); `retry-after-ms` is OpenAI's and Azure's finer one. */
function retryAfter(header: (name: string) => string | undefined, known: unknown): number | undefined {
  const fine = Number(header("retry-after-ms") ?? Number.NaN);
  if (fine >= 0) return Math.ceil(fine);
  const coarse = header("retry-after")?.trim();
  if (coarse) {
    const seconds = Number(coarse);
    if (seconds >= 0) return Math.ceil(seconds * 1000);
    const date = Date.parse(coarse);
    if (!Number.isNaN(date)) return Math.max(0, date - Date.now());
  }
  return typeof known === "number" && known >= 0 ? known : undefined;
}
