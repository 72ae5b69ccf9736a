/** Longer texts are rather looked through again than kept. */
const LONGEST_TEXT = 2_048;
const GENERATION_SIZE = 262_144;

/**
 * Remembers texts in which the rules found nothing: a saver hands the same history over at every step. Holds at most
 * two generations of 256 Ki characters, and as many with labels; a text that is asked for lives on. Holds no text that
 * a rule covers.
 */
export class CleanTexts {
  readonly #plain = new Generations();
  /** Texts behind their label: no text has the name of one here. */
  readonly #labelled = new Generations();

  /** @param label what stands over the text, which can make a match of it; '' for none */
  has(text: string, label: string): boolean {
    if (text.length > LONGEST_TEXT) return false;
    return label === "" ? this.#plain.has(text) : this.#labelled.has(nameOf(text, label));
  }

  add(text: string, label: string): void {
    if (text.length > LONGEST_TEXT) return;
    if (label === "") this.#plain.add(text);
    else this.#labelled.add(nameOf(text, label));
  }
}

function nameOf(text: string, label: string): string {
  return `${label.length}:${label}${text}`;
}

class Generations {
  #young = new Set<string>();
  #old = new Set<string>();
  #size = 0;

  has(text: string): boolean {
    if (this.#young.has(text)) return true;
    if (!this.#old.has(text)) return false;
    this.add(text);
    return true;
  }

  add(text: string): void {
    if (this.#size + text.length > GENERATION_SIZE) {
      this.#old = this.#young;
      this.#young = new Set();
      this.#size = 0;
    }
    this.#young.add(text);
    this.#size += text.length;
  }
}
