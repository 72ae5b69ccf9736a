import { z } from "zod";
import { parseOrThrow } from "./parse.js";
import { REDACTION_STRATEGIES, type RedactionPlace } from "./redactor.js";

/** The types that have a detector of their own. Any other type needs a `detector`. */
export const BUILT_IN_PII_TYPES = [
  "email",
  "credit_card",
  "ip",
  "mac_address",
  "url",
  "phone",
  "iban",
  "ssn",
  "nik",
] as const;
export type BuiltInPiiType = (typeof BUILT_IN_PII_TYPES)[number];

/** The places that a rule may leave alone with `except`: those that an agent works with, not those people read. */
export const PLACES_TO_EXCEPT = [
  "tool_args",
  "approval",
  "memory",
  "file",
] as const satisfies readonly RedactionPlace[];

/**
 * A PII rule as data, for a place without the agent's code: a producer in another language's gateway, the redaction
 * door, `drover pii scan`. The code of an agent may also give a RegExp or a function as detector.
 */
export const piiRuleSchema = z.strictObject({
  /** Names the type in `[REDACTED_TYPE]`, in `<type_hash:…>` and in the counter's label. */
  type: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "Use a letter, then letters, digits, _ or -, at most 64."),
  strategy: z.enum(REDACTION_STRATEGIES).default("redact"),
  /** A regular expression without delimiters. Without it the built-in detector of the type is taken. */
  detector: z.string().min(1).max(2_000).optional(),
  /** Flags of `detector`: i, m, s and u; g and d change nothing. */
  flags: z.string().max(8).optional(),
  applyToInput: z.boolean().default(true),
  applyToOutput: z.boolean().default(false),
  applyToToolResults: z.boolean().default(false),
  /** Sets the three above, and leaves no place out. Unset: false, except in rules of the whole fleet. */
  everywhere: z.boolean().optional(),
  /** Places that this rule leaves alone, so that a tool can be given what it needs. Not with `everywhere`. */
  except: z.array(z.enum(PLACES_TO_EXCEPT)).default([]),
});
export type PiiRuleData = z.output<typeof piiRuleSchema>;

export const piiRulesSchema = z.array(piiRuleSchema).max(100);

/**
 * Reads rules from JSON. `everywhereByDefault` is for rules of the whole fleet, which cover every place unless they
 * say `"everywhere": false`. Throws DroverError INVALID_POLICY that names each mistake's place.
 */
export function parsePiiRules(data: unknown, options: { everywhereByDefault?: boolean } = {}): PiiRuleData[] {
  const everywhere = options.everywhereByDefault ?? false;
  const rules = parseOrThrow(piiRulesSchema, data, "The PII rules are not valid", "INVALID_POLICY");
  return rules.map((rule) => ({ ...rule, everywhere: rule.everywhere ?? everywhere }));
}
