import { DroverError } from "@drover/contracts";

/** The one error of a document that can't be read. `reason` says what is wrong and what helps, without its text. */
export function unreadable(name: string, reason: string, cause?: unknown): DroverError {
  return new DroverError("UNREADABLE_DOCUMENT", `${name}: ${reason}`, cause === undefined ? {} : { cause });
}

export function sizeInWords(bytes: number): string {
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${Math.round(kibibytes)} KiB` : `${Number((kibibytes / 1024).toFixed(1))} MiB`;
}
