import { expect, it } from "vitest";
import { withCleanUp } from "./clean-up.mjs";
import { measureMemory } from "./memory.mjs";

/** Of the short form; `npm run bench -- memory` has 100,000. */
const RUNS = 200;

it("a finished run of one model call takes at most 10 KiB of Redis, and nothing when its time is over", async () => {
  const figures = await withCleanUp((later) => measureMemory(RUNS, later, () => {}));
  expect(figures.bytesPerRun).toBeLessThan(10 * 1024);
  // What Redis's allocator and hash tables keep for what comes next is the same for 200 runs and for 100,000.
  expect(figures.leftBytesPerRun * RUNS).toBeLessThan(256 * 1024);
}, 240_000);
