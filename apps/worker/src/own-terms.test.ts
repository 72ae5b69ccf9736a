import type { KnownAgents } from "@drover/queue";
import type { LoadedAgent } from "@drover/runtime";
import { expect, it } from "vitest";
import { withOwnTerms } from "./own-terms.js";

const announced = {
  names: ["clerk", "payer", "foreign"],
  terms: { clerk: { signedMessages: [] }, payer: { signedMessages: ["run.cancel"] } },
} as unknown as KnownAgents;
const agent = (name: string, signedMessages: string[], ofAll: string[] = []) =>
  ({
    name,
    people: { signedMessages },
    fleet: { ceilings: { signedMessages: ofAll } },
  }) as unknown as LoadedAgent;

it("no worker that announced less loosens what this one's policy wants to be signed", async () => {
  const ask = withOwnTerms(
    async () => announced,
    [
      agent("clerk", ["run.start", "run.resume"], ["run.resume"]),
      agent("payer", ["run.resume"], ["run.resume"]),
    ],
  );
  const { names, terms } = await ask(["clerk", "unheard"]);
  expect(names).toEqual(announced.names);
  const wanted = Object.entries(terms).map(([name, { signedMessages }]) => [name, signedMessages]);
  expect(Object.fromEntries(wanted)).toEqual({
    clerk: ["run.start", "run.resume"],
    payer: ["run.cancel", "run.resume"],
    foreign: ["run.resume"],
    unheard: ["run.resume"],
  });
});
