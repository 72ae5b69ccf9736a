import { expect, it } from "vitest";
import { Complaints } from "./complaints.js";

it("says each kind of failure once, then every thirty seconds with how often it came", () => {
  let now = 0;
  const lines: string[] = [];
  const complaints = new Complaints(
    (error) => error,
    () => now,
  );
  const log = (first: unknown, message = "") =>
    void lines.push(`${message} ${(first as { again?: number }).again}`);
  const full = Object.assign(new Error("full"), { code: "OOM" });
  for (now = 0; now < 35_000; now += 1000) complaints.say(log, "sweep", full);
  complaints.say(log, "sweep", Object.assign(new Error("other"), { code: "OTHER" }));
  complaints.say(log, "heartbeat", full);
  expect(lines).toEqual(["sweep undefined", "sweep 29", "sweep undefined", "heartbeat undefined"]);
});

it("writes the error under `err`, by the name that readers know it by", () => {
  const lines: unknown[] = [];
  const known = Object.assign(new Error("Redis refused a command."), { code: "REDIS_REFUSED" });
  new Complaints(() => known).say((line: unknown) => void lines.push(line), "sweep", new Error("OOM"));
  expect(lines).toEqual([{ err: known }]);
});
