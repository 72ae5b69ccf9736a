import { expect, it } from "vitest";
import { withCleanUp } from "./clean-up.mjs";
import { soak } from "./soak.mjs";

/** Of the short form; `npm run bench -- soak` has 20,000. */
const RUNS = 160;

it("after many runs no key is left that nobody owns, no slot is held, and Redis has not grown with them", async () => {
  const figures = await withCleanUp((later) => soak(RUNS, later, () => {}));
  expect(figures).toMatchObject({ keysWithoutOwner: [], slotsLeft: [] });
  // A run that is kept takes several times as much.
  expect(figures.redisBytes.growthPerRun).toBeLessThan(12_000);
}, 240_000);
