import { type Redactor, runRequestSchema } from "@drover/contracts";
import { expect, it } from "vitest";
import { redactedRequest } from "./redacted-request.js";

const clean = (text: string) => text.replaceAll("ann@example.com", "[X]");
const redactor: Redactor = {
  text: clean,
  value: (value) => JSON.parse(clean(JSON.stringify(value))) as typeof value,
};
const request = (more: object) => runRequestSchema.parse({ agent: "clerk", input: "Hello", ...more });

it.each(["threadId", "idempotencyKey", "correlationId", "batchId"])(
  "%s is refused where a rule covers something in it: two names must not become one",
  (name) => {
    const given = request({ [name]: "of ann@example.com" });
    expect(() => redactedRequest(given, redactor)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining(name) }),
    );
    expect(() => redactedRequest(given, redactor)).not.toThrow(/ann@example/);
  },
);

it("texts are redacted, a document's name too", () => {
  const given = request({
    input: { messages: ["to ann@example.com"] },
    context: { who: "ann@example.com" },
    metadata: { "ann@example.com": 1 },
    document: "inbox/ann@example.com.txt",
    webhook: { url: "https://example.com/ann@example.com" },
  });
  expect(redactedRequest(given, redactor)).toEqual({
    ...given,
    input: { messages: ["to [X]"] },
    context: { who: "[X]" },
    metadata: { "[X]": 1 },
    document: "inbox/[X].txt",
  });
});
