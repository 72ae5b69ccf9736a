/** Where a document is: a file, or one line of a .jsonl file. */
export interface DocumentRef {
  /** How results name it: the path as the caller would write it from `cwd`, and `#<line>` for a line. */
  name: string;
  /** Absolute path of the file. */
  path: string;
  /** For a line of a .jsonl file: its number from 1, and its bytes in the file, the line break not included. */
  line?: { number: number; start: number; end: number };
}

/** A LangChain standard content block, for models that take pictures or files. `data` is base64. */
export interface MediaBlock {
  type: "image" | "file";
  mimeType: string;
  data: string;
}

export interface TextDocument {
  name: string;
  mediaType: string;
  text: string;
}

export interface MediaDocument {
  name: string;
  mediaType: string;
  blocks: MediaBlock[];
}

/** A document as it goes to an agent: text wherever there is text, content blocks for pictures and scanned pages. */
export type Document = TextDocument | MediaDocument;
