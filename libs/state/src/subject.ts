import { createHash } from "node:crypto";

/** Somebody of whom every trace may have to go: a key of runs' metadata, and the value that it has for them. */
export interface Subject {
  key: string;
  value: string;
}

/** The field of a thread's record that says that a run of it named the subject: no word of it, and it outlives the run. */
export function subjectField({ key, value }: Subject): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([key, value]))
    .digest("hex");
  return `m:${digest.slice(0, 24)}`;
}

/** The same for all that a run's metadata may name somebody by. */
export function subjectFields(metadata: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(metadata)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([key, value]) => subjectField({ key, value: String(value) }));
}
