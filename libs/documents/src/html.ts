import { compile } from "html-to-text";

/** Deepest nesting that is followed; what lies deeper is left out. */
const DEPTH = 256;

const convert = compile({
  wordwrap: false,
  limits: { maxDepth: DEPTH, maxInputLength: Number.MAX_SAFE_INTEGER },
  formatters: {
    // Cells one after the other: html-to-text's own data tables pad every cell to the widest of its column.
    cell: (element, walk, builder) => {
      walk(element.children, builder);
      builder.addInline(" | ");
    },
  },
  selectors: [
    { selector: "img", format: "skip" },
    { selector: "a", options: { ignoreHref: true } },
    { selector: "table", format: "block" },
    { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: "td", format: "cell" },
    { selector: "th", format: "cell" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
    // What a reader can't see is not what the document says.
    ...["[hidden]", '[style*="display:none"]', '[style*="display: none"]', "template", "noscript"].map(
      (selector) => ({
        selector,
        format: "skip",
      }),
    ),
  ],
});

/** The text that a reader of the page sees; a table's cells are separated by " | ". */
export function htmlText(html: string): string {
  return convert(html).replace(/[ |]+$/gm, "");
}
