import {
  DroverError,
  REDACTION_PLACES,
  type RedactionPlace,
  type RedactionStrategy,
} from "@drover/contracts";
import { CleanTexts } from "./clean-texts.js";
import { redactedJson } from "./json-text.js";
import type { Match } from "./match.js";
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
    if (this.#clean[place].has(text, label)) return text;
    const inTokens = redactedJson(text, (token, key) => this.#replaced(token, place, key, tally));
    const redacted = this.#replaced(inTokens, place, label, tally);
    if (redacted === text) this.#clean[place].add(text, label);
    return redacted;
  }

  /**
   * What stood next to a match may be one itself once that is gone (`123-45-6789-10.0.0.1`): looks again, a few
   * times at most, and leaves alone what it put in.
   */
  #replaced(text: string, place: RedactionPlace, label: string, tally: Tally): string {
    let written: Written = { text, ours: [] };
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      const found = outside(this.#ownWords(written), this.#matches(written.text, place, label));
      if (found.length === 0) break;
      written = this.#write(written, found, place, tally);
    }
    return written.text;
  }

  #matches(text: string, place: RedactionPlace, label: string): RuleMatch[] {
    const matches: RuleMatch[] = [];
    for (const [order, rule] of this.#rulesAt[place].entries()) {
      const strategy: RedactionStrategy =
        rule.strategy === "block" && AFTER_THE_FACT.has(place) ? "redact" : rule.strategy;
      for (const { start, end } of rule.detect(text, label)) matches.push({ start, end, order, strategy });
    }
    return matches;
  }

  #write({ text, ours }: Written, found: readonly RuleMatch[], place: RedactionPlace, tally: Tally): Written {
    const parts: string[] = [];
    const written: Match[] = [];
    let from = 0;
    let length = 0;
    let next = 0;
    const copyTo = (to: number) => {
      for (let range = ours[next]; range && range.end <= to; range = ours[++next]) {
        if (range.start >= from)
          written.push({ start: length + range.start - from, end: length + range.end - from });
      }
      parts.push(text.slice(from, to));
      length += to - from;
    };
    for (const { start, end, cover, order, strategy } of resolveOverlaps(found, text.length)) {
      const type = this.#rulesAt[place][order]?.type ?? "";
      tally.add({ type, strategy, place });
      if (strategy === "block") throw blocked(type, place);
      copyTo(cover.start);
      const replacement = replacementFor(type, strategy, text.slice(start, end), this.#hashKey);
      written.push({ start: length, end: length + replacement.length });
      parts.push(replacement);
      length += replacement.length;
      from = cover.end;
    }
    copyTo(text.length);
    return { text: parts.join(""), ours: written };
  }

  /** What this call or an earlier one put in: redacting twice changes nothing. */
  #ownWords({ text, ours }: Written): Uint8Array | undefined {
    const hasPlaceholders = text.includes("[REDACTED_") || text.includes("_hash:");
    if (ours.length === 0 && !hasPlaceholders) return undefined;
    const own = new Uint8Array(text.length);
    for (const { start, end } of ours) own.fill(1, start, end);
    if (!hasPlaceholders) return own;
    for (const placeholder of text.matchAll(this.#placeholder)) {
      own.fill(1, placeholder.index, placeholder.index + placeholder[0].length);
    }
    return own;
  }
}

const MOST_PASSES = 3;

/** A text and what in it is a replacement already, ascending. */
interface Written {
  text: string;
  ours: readonly Match[];
}

/** The matches without what of them lies at the edge in `own`; those that are wholly inside are gone. */
function outside(own: Uint8Array | undefined, matches: RuleMatch[]): RuleMatch[] {
  if (own === undefined) return matches;
  return matches.flatMap((match) => {
    let { start, end } = match;
    while (start < end && own[start]) start++;
    while (end > start && own[end - 1]) end--;
    return start < end ? [{ ...match, start, end }] : [];
  });
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
