import {
  DroverError,
  REDACTION_PLACES,
  type RedactionPlace,
  type RedactionStrategy,
} from "@drover/contracts";
import { CleanTexts } from "./clean-texts.js";
import { redactedJson } from "./json-text.js";
import { type RuleMatch, resolveOverlaps } from "./overlap.js";
import { replacementFor } from "./replacement.js";
import { type CompiledRule, ruleCovers } from "./rules.js";
import type { Tally } from "./tally.js";

/** Places of which nobody can take the text back: there a rule that blocks replaces instead. */
const AFTER_THE_FACT: ReadonlySet<RedactionPlace> = new Set(["error", "event", "log"]);

/** The rules of one redactor, sorted by place, and what one text becomes under them. */
export class RuleSet {
  readonly #rulesAt: Record<RedactionPlace, CompiledRule[]>;
  readonly #clean: Record<RedactionPlace, CleanTexts>;
  readonly #hashKey: Uint8Array | undefined;
  readonly #placeholder: RegExp;

  constructor(rules: readonly CompiledRule[], hashKey: Uint8Array | undefined) {
    this.#rulesAt = byPlace((place) => rules.filter((rule) => ruleCovers(rule, place)));
    this.#clean = byPlace(() => new CleanTexts());
    this.#hashKey = hashKey;
    this.#placeholder = placeholderOf(rules.map((rule) => rule.type));
  }

  /** The text with all matches replaced; the same string where there are none. `label` is what stands over it. */
  redacted(text: string, place: RedactionPlace, label: string, tally: Tally): string {
    if (text.length === 0 || this.#rulesAt[place].length === 0) return text;
    if (label === "" && this.#clean[place].has(text)) return text;
    const inTokens = redactedJson(text, (token, key) => this.#replaced(token, place, key, tally));
    const redacted = this.#replaced(inTokens, place, label, tally);
    if (label === "" && redacted === text) this.#clean[place].add(text);
    return redacted;
  }

  #replaced(text: string, place: RedactionPlace, label: string, tally: Tally): string {
    const found = this.#matches(text, place, label);
    if (found.length === 0) return text;
    const rules = this.#rulesAt[place];
    const parts: string[] = [];
    let from = 0;
    for (const { start, end, cover, order, strategy } of resolveOverlaps(found, text.length)) {
      const type = rules[order]?.type ?? "";
      tally.add({ type, strategy, place });
      if (strategy === "block") throw blocked(type, place);
      parts.push(
        text.slice(from, cover.start),
        replacementFor(type, strategy, text.slice(start, end), this.#hashKey),
      );
      from = cover.end;
    }
    parts.push(text.slice(from));
    return parts.join("");
  }

  #matches(text: string, place: RedactionPlace, label: string): RuleMatch[] {
    const matches: RuleMatch[] = [];
    for (const [order, rule] of this.#rulesAt[place].entries()) {
      const strategy: RedactionStrategy =
        rule.strategy === "block" && AFTER_THE_FACT.has(place) ? "redact" : rule.strategy;
      for (const { start, end } of rule.detect(text, label)) matches.push({ start, end, order, strategy });
    }
    return matches.length === 0 ? matches : this.#outsidePlaceholders(text, matches);
  }

  /** What was replaced before is left as it is: redacting twice changes nothing. */
  #outsidePlaceholders(text: string, matches: RuleMatch[]): RuleMatch[] {
    if (!text.includes("[REDACTED_") && !text.includes("_hash:")) return matches;
    const inside = new Uint8Array(text.length);
    for (const placeholder of text.matchAll(this.#placeholder)) {
      inside.fill(1, placeholder.index, placeholder.index + placeholder[0].length);
    }
    return matches.flatMap((match) => {
      let { start, end } = match;
      while (start < end && inside[start]) start++;
      while (end > start && inside[end - 1]) end--;
      return start < end ? [{ ...match, start, end }] : [];
    });
  }
}

function byPlace<T>(make: (place: RedactionPlace) => T): Record<RedactionPlace, T> {
  return Object.fromEntries(REDACTION_PLACES.map((place) => [place, make(place)])) as Record<
    RedactionPlace,
    T
  >;
}

function placeholderOf(types: readonly string[]): RegExp {
  const names = types.join("|");
  const upper = names.toUpperCase();
  return new RegExp(`\\[REDACTED_(?:${upper})\\]|<(?:${names})_hash:[0-9a-f]{8}>`, "g");
}

function blocked(type: string, place: RedactionPlace): DroverError {
  return new DroverError(
    "PII_BLOCKED",
    `The PII rule "${type}" does not let this text pass (place: ${place}). Take it out and send the request again.`,
  );
}
