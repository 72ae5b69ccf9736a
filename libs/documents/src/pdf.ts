import { isDroverError } from "@drover/contracts";
import { getDocumentProxy } from "unpdf";
import { sizeInWords, unreadable } from "./unreadable.js";

/** A PDF's text, page after page; null if no page has a text layer. Stops as soon as the limit is passed. */
export async function pdfText(name: string, bytes: Uint8Array, maxTextBytes: number): Promise<string | null> {
  // A copy: the parser takes over the buffer that it is given.
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 }).catch((error: unknown) => {
    throw explain(name, error);
  });
  try {
    const pages: string[] = [];
    let length = 0;
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
      page.cleanup();
      pages.push(text);
      length += text.length;
      if (length > maxTextBytes) {
        throw unreadable(name, `the PDF holds more than ${sizeInWords(maxTextBytes)} of text. Split it.`);
      }
    }
    const text = pages.join("\n").trim();
    return text === "" ? null : text;
  } catch (error) {
    throw explain(name, error);
  } finally {
    await pdf.destroy();
  }
}

function explain(name: string, error: unknown): Error {
  if (isDroverError(error)) return error;
  if (error instanceof Error && error.name === "PasswordException") {
    return unreadable(name, "the PDF is encrypted. Save a copy without a password.", error);
  }
  return unreadable(name, "the PDF is broken or not a PDF. Open it, save it again and retry.", error);
}
