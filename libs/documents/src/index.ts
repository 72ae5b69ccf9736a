export { type FieldKind, fieldIsRight, fieldKind, scoreFields } from "./score.js";
