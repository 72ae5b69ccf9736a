import type { Redactor, RunEventData } from "@drover/contracts";
import { AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { activationOf, servicesInMemory } from "../fixture/in-memory.js";
import { publisher } from "./events.js";

const hide = (text: string) => text.replace(/\d{4} \d{4}/g, "[card]");
const redactor: Redactor = {
  text: hide,
  value: (value) => JSON.parse(hide(JSON.stringify(value))) as typeof value,
};
const piece = (text: string, id = "m1") => [new AIMessageChunk({ content: text, id }), {}];
const textsOf = (events: RunEventData[]) => events.flatMap((e) => (e.type === "messages" ? [e.text] : []));

it("sends pieces as they come where no rule exists", () => {
  const services = servicesInMemory();
  const publish = publisher(activationOf(), services, false);
  publish("messages", piece("1234 "));
  publish("messages", piece("5678"));
  expect(textsOf(services.events)).toEqual(["1234 ", "5678"]);
});

it("holds pieces back where rules exist: a number may be cut in two", () => {
  const services = servicesInMemory({ redactor });
  const publish = publisher(activationOf(), services, true);
  publish("messages", piece("1234 "));
  publish("messages", piece("5678"));
  publish("messages", [new HumanMessage("not the model's"), {}]);
  expect(services.events).toEqual([]);
  publish("updates", { model_request: { messages: [] }, __interrupt__: [] });
  expect(textsOf(services.events)).toEqual(["[card]"]);
  expect(services.events.map(({ type }) => type)).toEqual(["messages", "updates"]);
  publish("messages", piece("1234 5678", "m2"));
  publish("values", {});
  expect(textsOf(services.events)).toEqual(["[card]", "[card]"]);
});

it("sends nothing after the signal fired", () => {
  const services = servicesInMemory();
  const publish = publisher(activationOf(), services, false);
  services.stop.abort();
  publish("custom", { a: 1 });
  expect(services.events).toEqual([]);
});
