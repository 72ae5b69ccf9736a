export type { Document, DocumentRef, MediaBlock, MediaDocument, TextDocument } from "./document.js";
export { type ExpandedInputs, expandInputs, type SkippedInput } from "./expand.js";
export { mediaTypeOf, SUPPORTED_EXTENSIONS } from "./media-type.js";
export { DEFAULT_MAX_TEXT_BYTES, type ReadOptions, readDocument } from "./read.js";
export { type FieldKind, fieldIsRight, fieldKind, scoreFields } from "./score.js";
