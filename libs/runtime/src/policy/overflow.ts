import { overflowFailure } from "../models/http-failure.js";
import type { ModelCallError } from "./failures.js";

const OVERFLOW = overflowFailure().message.replace(/\.$/, "");

/** Whether the provider refused the conversation because it is longer than the model can take. */
export function isContextOverflow({ message }: ModelCallError): boolean {
  return message.startsWith(OVERFLOW);
}
