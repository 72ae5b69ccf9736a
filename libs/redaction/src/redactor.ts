import { DroverError, type Redaction, type RedactionPlace, type Redactor } from "@drover/contracts";
import { RuleSet } from "./rule-set.js";
import { compileRule, type PiiRule } from "./rules.js";
import { Tally } from "./tally.js";
import { redactedValue } from "./value.js";

export interface RedactorOptions {
  rules: readonly PiiRule[];
  /**
   * Keys the hashes of the strategy `hash`, at least 16 bytes; one key per tenant, the same in every process, so
   * that one e-mail address has one hash in a tenant and hashes of two tenants cannot be compared.
   */
  hashKey?: string | Uint8Array | undefined;
  /** Hears what each call replaced (also what made it refuse the text); never a text. */
  onRedaction?: ((redaction: Redaction) => void) | undefined;
  /** How long a detector of one's own may take over one text: this many milliseconds (default 250) and one more for
   * each 1,024 characters. */
  detectorTimeoutMs?: number | undefined;
}

const SHORTEST_HASH_KEY = 16;

/**
 * A redactor that applies the rules. Its methods throw DroverError PII_BLOCKED (type and place, never the text) where
 * a rule blocks, and PII_DETECTOR_FAILED where a detector of one's own does not give an answer: a text that could
 * not be looked through is not let through. Throws INVALID_POLICY for rules that contradict themselves.
 */
export function createRedactor(options: RedactorOptions): Redactor {
  const hashKey =
    typeof options.hashKey === "string" ? new TextEncoder().encode(options.hashKey) : options.hashKey;
  const rules = options.rules.map((rule) => compileRule(rule, options.detectorTimeoutMs ?? 250));
  const hashing = rules.find((rule) => rule.strategy === "hash");
  if (hashing && (hashKey === undefined || hashKey.length < SHORTEST_HASH_KEY)) {
    throw new DroverError(
      "INVALID_POLICY",
      `The PII rule "${hashing.type}" has the strategy hash, which needs the tenant's hashKey of at least ${SHORTEST_HASH_KEY} bytes.`,
    );
  }
  const ruleSet = new RuleSet(rules, hashKey);

  function counted<T>(redact: (tally: Tally) => T): T {
    const tally = new Tally();
    try {
      return redact(tally);
    } finally {
      tally.report(options.onRedaction);
    }
  }

  return {
    text: (text: string, place: RedactionPlace) =>
      counted((tally) => ruleSet.redacted(text, place, "", tally)),
    value: <T>(value: T, place: RedactionPlace) =>
      counted((tally) =>
        redactedValue(value, place, (text, at, label) => ruleSet.redacted(text, at, label, tally)),
      ),
  };
}
