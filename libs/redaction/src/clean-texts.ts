/** Longer texts are rather looked through again than kept. */
const LONGEST_TEXT = 2_048;
const GENERATION_SIZE = 262_144;

/**
 * Remembers texts in which the rules found nothing: a saver hands the same history over at every step. Holds at most
 * two generations of 256 Ki characters; a text that is asked for lives on. Holds no text that a rule covers.
 */
export class CleanTexts {
  #young = new Set<string>();
  #old = new Set<string>();
  #size = 0;

  /** @param label what stands over the text, which can make a match of it */
  has(text: string, label: string): boolean {
    if (text.length > LONGEST_TEXT) return false;
    const known = keyOf(text, label);
    if (this.#young.has(known)) return true;
    if (!this.#old.has(known)) return false;
    this.#add(known);
    return true;
  }

  add(text: string, label: string): void {
    if (text.length <= LONGEST_TEXT) this.#add(keyOf(text, label));
  }

  #add(text: string): void {
    if (this.#size + text.length > GENERATION_SIZE) {
      this.#old = this.#young;
      this.#young = new Set();
      this.#size = 0;
    }
    this.#young.add(text);
    this.#size += text.length;
  }
}

/** No text with its label has the key of another one. */
function keyOf(text: string, label: string): string {
  return `${label.length}:${label}${text}`;
}
