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

  has(text: string): boolean {
    if (text.length > LONGEST_TEXT) return false;
    if (this.#young.has(text)) return true;
    if (!this.#old.has(text)) return false;
    this.add(text);
    return true;
  }

  add(text: string): void {
    if (text.length > LONGEST_TEXT) return;
    if (this.#size + text.length > GENERATION_SIZE) {
      this.#old = this.#young;
      this.#young = new Set();
      this.#size = 0;
    }
    this.#young.add(text);
    this.#size += text.length;
  }
}
