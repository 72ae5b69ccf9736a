import { describe, expect, it } from "vitest";
import { BUILT_IN_DETECTORS } from "./index.js";

const MEBIBYTE = 1 << 20;
const filled = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** Texts that drive a careless detector through the same characters again and again. */
const PIECES = [
  "a",
  "@",
  "a@",
  "a.",
  "a@b.",
  "%40",
  "1",
  "1 ",
  "0",
  "012-",
  "4111 ",
  "4111 1111 1111 1112 ",
  "card 4111111111111112 ",
  "4111111111111111 ",
  "TEL ",
  "TEL 12345 ",
  "03-1234567 ",
  "+6",
  "+60 12 345 6789 ",
  ":",
  "a:",
  "abcd:",
  "::",
  "1.1.",
  "1.2.3.4 ",
  "aa:",
  "aa:bb:cc:dd:ee:f",
  "www.",
  "http://",
  "GB82 ",
  "PL60 ",
  "GB82WEST12345698765431 ",
  "MT84",
  "1-1.1(1)",
  "４１１１ ",
  "\\",
  "\\n4",
  "\n",
  " ",
  "123-45-6789 ",
  "ssn ",
  "3201011234560001 ",
  "ref ",
  "[REDACTED_",
  "中文",
  "\ud83d",
];

/** Time of this process alone: other work on the machine must not decide. The best of several. */
function cpuMilliseconds(task: () => void, times: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < times; i++) {
    const before = process.cpuUsage();
    task();
    best = Math.min(best, process.cpuUsage(before).user / 1_000);
  }
  return best;
}

/** Milliseconds that a detector may take for a mebibyte. */
const LIMIT = 100;

/** A task of known size: a mebibyte read ten times, a character at a time, which takes a core at leisure 20 ms at most. */
function readSlowly(text: string): number {
  let sum = 0;
  for (let times = 0; times < 10; times++)
    for (let at = 0; at < text.length; at++) sum += text.charCodeAt(at);
  return sum;
}

/** How much slower than that this machine is just now: others use its caches and the other half of its cores. */
const slowness = (text: string) => Math.max(1, cpuMilliseconds(() => readSlowly(text), 3) / 20);

describe.each([...BUILT_IN_DETECTORS])("%s over 1 MiB of adversarial text", (_, detect) => {
  it("takes less than 100 ms, and four times the time for four times the text", () => {
    for (const piece of PIECES) {
      const text = filled(piece, MEBIBYTE);
      detect(text.slice(0, 50_000), "");
      const first = cpuMilliseconds(() => detect(text, ""), 1);
      if (first < LIMIT) continue;
      const whole = Math.min(
        first,
        cpuMilliseconds(() => detect(text, ""), 5),
      );
      expect(whole / slowness(text), `milliseconds for ${JSON.stringify(piece)}`).toBeLessThan(LIMIT);
      const quarter = cpuMilliseconds(() => detect(text.slice(0, MEBIBYTE / 4), ""), 3);
      if (whole >= LIMIT) expect(whole / quarter, `growth for ${JSON.stringify(piece)}`).toBeLessThan(9);
    }
  }, 120_000);
});
