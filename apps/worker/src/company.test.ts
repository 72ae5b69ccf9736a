import { describe, expect, it } from "vitest";
import { Company } from "./company.js";

/** Lets runs in by name; `inside` says who may be worked on, `door` what became of the door. */
function house() {
  const inside: string[] = [];
  const door: boolean[] = [];
  const company = new Company((isShut) => door.push(isShut));
  const ends = new Map<string, () => void>();
  const come = async (name: string, isAlone = false, signal = new AbortController().signal) => {
    const end = await company.enter(isAlone, signal);
    if (!end) return;
    inside.push(name);
    ends.set(name, () => {
      inside.splice(inside.indexOf(name), 1);
      end();
    });
  };
  const go = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };
  return { inside, door, come, go };
}
const settled = () => new Promise(setImmediate);

describe("runs that must be alone", () => {
  it("wait for all others, keep the door shut until they have ended, and send elsewhere who comes meanwhile", async () => {
    const { inside, door, come, go } = house();
    await Promise.all([come("a"), come("b")]);
    void come("x", true);
    void come("y", true);
    // It was on its way when the door was shut.
    await come("late");
    await go("a");
    await go("b");
    expect([...inside, ...door]).toEqual(["late", true]);
    await go("late");
    expect(inside).toEqual(["x"]);
    void come("later");
    await settled();
    expect(inside).toEqual(["x"]);
    expect(door).toEqual([true]);
    await go("x");
    expect([...inside, ...door]).toEqual([true, false]);
    await come("next");
    expect(inside).toEqual(["next"]);
  });

  it("hold nobody up when they are stopped before they begin", async () => {
    const { inside, door, come } = house();
    const stop = new AbortController();
    await come("a");
    const waiting = come("x", true, stop.signal);
    stop.abort();
    await waiting;
    await come("x", true, stop.signal);
    expect(inside).toEqual(["a"]);
    expect(door).toEqual([true, false]);
  });
});
