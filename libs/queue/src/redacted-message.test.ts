import { type InboxMessage, messageSchema, type Redactor } from "@drover/contracts";
import { expect, it } from "vitest";
import { redactMessage } from "./redacted-message.js";

const clean = (text: string) => text.replaceAll("ann@example.com", "[X]");
const redactor: Redactor = {
  text: clean,
  value: (value) => JSON.parse(clean(JSON.stringify(value))) as typeof value,
};
const head = { v: 1, id: "m-1", replyTo: "billing" } as const;

it.each<[InboxMessage, object]>([
  [
    {
      ...head,
      type: "run.start",
      request: { agent: "clerk", input: "to ann@example.com", metadata: { a: 1 } },
    },
    { request: { agent: "clerk", input: "to [X]", metadata: { a: 1 } } },
  ],
  [
    { ...head, type: "run.resume", approvalId: "apr_1", value: { to: "ann@example.com" }, decidedBy: "ada" },
    { value: { to: "[X]" }, decidedBy: "ada" },
  ],
  [
    {
      ...head,
      type: "run.cancel",
      runId: "0b9f6a4e-7c11-4b1e-9d55-6b0d8f0c2a11",
      reason: "ann@example.com left",
    },
    { reason: "[X] left" },
  ],
  [{ ...head, type: "run.retry", runId: "0b9f6a4e-7c11-4b1e-9d55-6b0d8f0c2a11" }, {}],
])("%j keeps its shape, without what a rule covers", (message, changed) => {
  const redacted = redactMessage(message, redactor);
  expect(redacted).toEqual({ ...message, ...changed });
  expect(messageSchema.safeParse(redacted).success).toBe(true);
});

it("what is no message is refused", () => {
  const message = { ...head, type: "run.start", request: { agent: "clerk" } } as unknown as InboxMessage;
  expect(() => redactMessage(message, redactor)).toThrow(
    expect.objectContaining({ code: "INVALID_MESSAGE" }),
  );
});
