/**
 * What a value becomes before it is known where it will stand in Redis: a text with places left open.
 *
 * A Body is a text that is stored once per thread and referred to by its number; a BodyList refers to several, in
 * order. Bodies are made when a value is handed over (so that a later mutation changes nothing) and get their
 * number when the flush that carries them is rendered (see thread-view.ts).
 */
export class Body {
  /** The view that has numbered this body last, and the number. */
  view: object | undefined;
  ordinal = -1;

  constructor(readonly template: Template) {}
}

export class BodyList {
  constructor(readonly bodies: readonly Body[]) {}
}

export type Template = readonly (string | Body | BodyList)[];

/** Builds a Template; adjoining texts become one part. */
export class TemplateWriter {
  readonly #parts: (string | Body | BodyList)[] = [];
  #text = "";

  text(text: string): void {
    this.#text += text;
  }

  slot(slot: Body | BodyList): void {
    if (this.#text !== "") this.#parts.push(this.#text);
    this.#text = "";
    this.#parts.push(slot);
  }

  /** Where the writer stands: what follows can be taken back as one text if it refers to nothing. */
  mark(): { parts: number; length: number } {
    return { parts: this.#parts.length, length: this.#text.length };
  }

  /** Takes out what was written since the mark if that is a text alone of at least `least` characters. */
  cut(mark: { parts: number; length: number }, least: number): string | undefined {
    if (this.#parts.length !== mark.parts || this.#text.length - mark.length < least) return undefined;
    const text = this.#text.slice(mark.length);
    this.#text = this.#text.slice(0, mark.length);
    return text;
  }

  done(): Template {
    return this.#text === "" ? this.#parts : [...this.#parts, this.#text];
  }
}
