import type { Usage } from "@drover/contracts";

const UNITS: readonly [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
];

/** "850 ms", "4.2 s", "3 min 5 s", "2 d 4 h": the two largest units. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  let left = Math.round(ms / 1000) * 1000;
  const parts: string[] = [];
  for (const [name, size] of UNITS) {
    const n = Math.floor(left / size);
    left -= n * size;
    if (n > 0) parts.push(`${n} ${name}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** "just now", "5 min ago", "2 d ago". */
export function ago(at: number | null, now = Date.now()): string {
  if (at === null) return "";
  const [name, size] = UNITS.find(([, ms]) => now - at >= ms) ?? [];
  return size === undefined ? "just now" : `${Math.floor((now - at) / size)} ${name} ago`;
}

/** "2026-03-01 14:05:09" in the local time zone. */
export function moment(at: number | null): string {
  if (at === null) return "";
  const d = new Date(at);
  const two = (n: number) => String(n).padStart(2, "0");
  const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  return `${day} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

export const isoTime = (at: number | null): string | null =>
  at === null ? null : new Date(at).toISOString();

/** "12,345". */
export const count = (n: number): string => Math.round(n).toLocaleString("en-US");

/** "1 document", "12 documents". */
export const counted = (n: number, noun: string, plural = `${noun}s`): string =>
  `${count(n)} ${n === 1 ? noun : plural}`;

/** "45/s", "3.2/s", "12/min": whichever reads best. */
export function rate(perSecond: number): string {
  if (perSecond >= 10) return `${count(perSecond)}/s`;
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  return `${(perSecond * 60).toFixed(perSecond * 60 >= 10 ? 0 : 1)}/min`;
}

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

export const tokensOf = (usage: Usage): number => usage.inputTokens + usage.outputTokens;

/** "$0.42", "at least $0.42" where some calls have no known price, null where none has. */
export function dollars(usage: Usage): string | null {
  if (usage.costMicros === 0) return null;
  const amount = usage.costMicros / 1e6;
  const text = `$${amount < 1 ? amount.toPrecision(2) : amount.toFixed(2)}`;
  return usage.unpricedCalls > 0 ? `at least ${text}` : text;
}
