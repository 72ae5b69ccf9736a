import { join } from "node:path";
import { expandInputs, readDocument } from "@drover/documents";
import { root } from "../setup.mjs";

/** One document that is a thousand times larger than the others would be all that is measured. */
const LARGEST_CHARACTERS = 64 * 1024;

/** The texts of the sample receipts, those left out that can't be read or are huge. */
export async function sampleTexts() {
  const { documents } = await expandInputs([join(root, "examples/receipts/documents")], { cwd: root });
  const texts = await Promise.all(
    documents.map((document) =>
      readDocument(document).then(
        ({ text }) => text,
        () => undefined,
      ),
    ),
  );
  return texts.filter((text) => text !== undefined && text.length <= LARGEST_CHARACTERS);
}

/** `count` of them, again and again in the same order. */
export function cycled(texts, count) {
  return Array.from({ length: count }, (_, i) => texts[i % texts.length]);
}
