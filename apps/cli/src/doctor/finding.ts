/** What one look found. `wrong` makes doctor fail; `note` is worth knowing. */
export interface Finding {
  what: string;
  state: "ok" | "note" | "wrong";
  message: string;
  /** What to do about it. */
  mend: string | null;
}

export const ok = (what: string, message: string): Finding => ({ what, state: "ok", message, mend: null });
export const note = (what: string, message: string, mend: string | null = null): Finding => ({
  what,
  state: "note",
  message,
  mend,
});
export const wrong = (what: string, message: string, mend: string): Finding => ({
  what,
  state: "wrong",
  message,
  mend,
});
