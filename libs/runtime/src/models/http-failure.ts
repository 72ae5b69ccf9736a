import type { ErrorCode } from "@drover/contracts";
import type { ErrorFacts } from "./error-facts.js";
import type { ModelFailure } from "./failure.js";

interface Verdict {
  code: ErrorCode;
  retryable: boolean;
  /** What happened and what to do; the status and the provider's type follow in brackets. */
  say: string;
}

const OVERFLOW: Verdict = {
  code: "MODEL_ERROR",
  retryable: false,
  say: "The conversation is longer than the model can take: shorten the input, summarise the history, or use a model with a larger context",
};

const QUOTA: Verdict = {
  code: "MODEL_RATE_LIMITED",
  retryable: false,
  say: "The account's quota at the model's provider is used up: raise it or add credit",
};

const RATE: Verdict = {
  code: "MODEL_RATE_LIMITED",
  retryable: true,
  say: "The model's provider refuses requests for their rate: lower the concurrency or ask the provider for a higher limit",
};

const AUTH: Verdict = {
  code: "MODEL_AUTH",
  retryable: false,
  say: "The model's provider refused the key: check that the key in the worker's environment is right and may use this model",
};

const REFUSED: Verdict = {
  code: "MODEL_ERROR",
  retryable: false,
  say: "The model's provider does not accept the request: check the model's options, the tools' schemas and the messages",
};

const TROUBLE: Verdict = {
  code: "MODEL_ERROR",
  retryable: true,
  say: "The model's provider has trouble of its own: try again later or add a fallback model",
};

const BY_TYPE: Readonly<Record<string, Verdict>> = {
  context_length_exceeded: OVERFLOW,
  insufficient_quota: QUOTA,
  billing_hard_limit_reached: QUOTA,
  billing_error: QUOTA,
  rate_limit_error: RATE,
  rate_limit_exceeded: RATE,
  authentication_error: AUTH,
  invalid_api_key: AUTH,
  permission_error: AUTH,
  invalid_request_error: REFUSED,
};

function byStatus(status: number): Verdict {
  switch (status) {
    case 401:
    case 403:
      return AUTH;
    case 402:
      return QUOTA;
    case 404:
      return {
        ...REFUSED,
        say: "The model's provider does not know the model: check its name and the base URL",
      };
    case 408:
    case 504:
      return { ...TROUBLE, code: "MODEL_TIMEOUT", say: "The model's provider did not answer in time" };
    case 409:
      return TROUBLE;
    case 413:
      return OVERFLOW;
    case 429:
      return RATE;
    default:
      return status >= 500 ? TROUBLE : REFUSED;
  }
}

/**
 * The verdict on an HTTP error of a provider, or on an error that it sent in the middle of a stream, which has a
 * type and no status. The quota's type beats the status: it comes as 429 and no waiting helps. The provider's
 * text is left out: it may repeat the prompt.
 */
export function httpFailure(facts: ErrorFacts): ModelFailure | undefined {
  const { status, providerType } = facts;
  const typed = providerType === undefined ? undefined : BY_TYPE[providerType];
  const isProviders = status !== undefined || typed !== undefined || facts.className === "APIError";
  if (!isProviders) return undefined;
  const telling = typed === QUOTA || typed === OVERFLOW || status === undefined;
  const verdict = (telling ? typed : undefined) ?? (status === undefined ? TROUBLE : byStatus(status));
  // Both providers say by this header when they know better than the status.
  const told = facts.header("x-should-retry");
  const retryable = told === "true" || (told !== "false" && verdict.retryable);
  const bracket = [status, providerType].filter((part) => part !== undefined).join(" ");
  return {
    code: verdict.code,
    retryable,
    message: `${verdict.say}${bracket === "" ? "" : ` (${bracket})`}.`,
    ...(status === undefined ? {} : { status }),
    ...(retryable && facts.retryAfterMs !== undefined ? { retryAfterMs: facts.retryAfterMs } : {}),
  };
}

export function overflowFailure(): ModelFailure {
  return { code: OVERFLOW.code, retryable: false, message: `${OVERFLOW.say}.` };
}
