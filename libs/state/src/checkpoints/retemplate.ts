import { Body, BodyList, type Template, TemplateWriter } from "./body.js";
import { isMark, type Mark } from "./marks.js";
import { pairs } from "./refs.js";
import type { ThreadView } from "./thread-view.js";

/** Turns stored texts back into Templates, so that they can be written to another place without being decoded. */
export class Retemplater {
  readonly #bodies = new Map<number, Body>();

  constructor(readonly view: ThreadView) {}

  template(text: string): Template {
    const out = new TemplateWriter();
    this.#write(JSON.parse(text), out);
    return out.done();
  }

  #body(number: number): Body {
    let body = this.#bodies.get(number);
    if (body === undefined) {
      body = new Body(this.template(this.view.text(number)));
      this.#bodies.set(number, body);
    }
    return body;
  }

  #write(json: unknown, out: TemplateWriter): void {
    if (typeof json !== "object" || json === null) out.text(JSON.stringify(json));
    else if (Array.isArray(json)) this.#array(json, out);
    else if (isMark(json)) this.#mark(json, out);
    else this.#object(json, out);
  }

  #mark(mark: Mark, out: TemplateWriter): void {
    if (mark.$ === "b") this.#reference('{"$":"b","v":', mark.v as number, "}", out);
    else if (mark.$ === "l") out.slot(new BodyList(this.#run(mark.v as number[])));
    else if (mark.$ === "L") out.slot(new BodyList(this.#range(mark.v as number[])));
    else if (mark.$ === "i") {
      const [number, id] = mark.v as [number, string];
      this.#reference('{"$":"i","v":[', number, `,${JSON.stringify(id)}]}`, out);
    } else this.#object(mark, out);
  }

  #reference(before: string, number: number, after: string, out: TemplateWriter): void {
    out.text(before);
    out.slot(this.#body(number));
    out.text(after);
  }

  #run(runs: number[]): Body[] {
    const bodies: Body[] = [];
    for (const [first, count] of pairs(runs)) {
      for (let number = first; number < first + count; number += 1) bodies.push(this.#body(number));
    }
    return bodies;
  }

  #range(ranges: number[]): Body[] {
    const numbers = [...pairs(ranges)].flatMap(([at, count]) => this.view.refs.slice(at, count));
    return numbers.map((number) => this.#body(number));
  }

  #array(json: unknown[], out: TemplateWriter): void {
    out.text("[");
    json.forEach((one, i) => {
      if (i > 0) out.text(",");
      this.#write(one, out);
    });
    out.text("]");
  }

  #object(json: object, out: TemplateWriter): void {
    out.text("{");
    Object.entries(json).forEach(([key, one], i) => {
      out.text(`${i > 0 ? "," : ""}${JSON.stringify(key)}:`);
      const isOwnObject = key === "v" && isMark(json) && json.$ === "o";
      if (isOwnObject) this.#object(one as object, out);
      else this.#write(one, out);
    });
    out.text("}");
  }
}
