import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { z } from "zod";
import { MESSAGE_TYPES, messageSchema, signedMessageSchema } from "./message.js";
import { messageSchemaText } from "./message-schema.js";
import { NOTICE_TYPES, type Notice } from "./notice.js";
import { noticeSchema, noticeSchemaText } from "./notice-schema.js";

const doc = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");

it("the schemas in docs are what the code checks and sends", () => {
  const how = "build, then run: node libs/contracts/dist/write-message-schema.js";
  expect(doc("messages.schema.json"), how).toBe(messageSchemaText());
  expect(doc("notices.schema.json"), how).toBe(noticeSchemaText());
  expectTypeOf<Notice>().toExtend<z.input<typeof noticeSchema>>();
});

describe("docs/messages.md", () => {
  const page = doc("messages.md");

  it("has a section for each type of message and each notice", () => {
    for (const type of [...MESSAGE_TYPES, ...NOTICE_TYPES]) expect(page).toContain(`### ${type}\n`);
  });

  it("has examples that are valid messages and notices", () => {
    for (const [types, schema] of [
      [MESSAGE_TYPES, messageSchema],
      [NOTICE_TYPES, noticeSchema],
    ] as const) {
      const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)]
        .map(([, json]) => JSON.parse(json ?? "") as { type?: string })
        .filter(({ type }) => (types as readonly (string | undefined)[]).includes(type));
      expect(new Set(examples.map(({ type }) => type))).toEqual(new Set(types));
      for (const example of examples) {
        const parsed = schema.safeParse(example);
        expect(parsed.error?.issues ?? [], JSON.stringify(example)).toEqual([]);
      }
    }
  });
});

it("the signature in docs/messages.md is the one of the key that it names", () => {
  const page = doc("messages.md");
  const [, json = ""] = /```json\n(\{[^`]*"signed"[^`]*)```/.exec(page) ?? [];
  const [, key = ""] = /right for the key\n`([^`]+)`/.exec(page) ?? [];
  const { signed, timestamp, signature } = signedMessageSchema.parse(JSON.parse(json));
  const mac = createHmac("sha256", key).update(`${timestamp}.${signed}`).digest("base64");
  expect(signature).toBe(`v1,${mac}`);
});

describe("a message", () => {
  const resume = { v: 1, id: "a", type: "run.resume" };
  it("answers exactly one approval in exactly one way", () => {
    const fits = (over: object) => messageSchema.safeParse({ ...resume, ...over }).success;
    const decisions = [{ type: "approve" }];
    expect(fits({ approvalId: "x", decisions })).toBe(true);
    expect(fits({ approvalId: "x", value: null })).toBe(true);
    expect(fits({ runId: "r", interruptId: "i", value: 0 })).toBe(true);
    expect(fits({ approvalId: "x" })).toBe(false);
    expect(fits({ approvalId: "x", decisions, value: 1 })).toBe(false);
    expect(fits({ approvalId: "x", runId: "r", interruptId: "i", decisions })).toBe(false);
    expect(fits({ runId: "r", decisions })).toBe(false);
    expect(fits({ approvalId: "x", decisions: [] })).toBe(false);
  });

  it("has an id that every part of the way can carry", () => {
    const fits = (id: unknown) =>
      messageSchema.safeParse({ v: 1, id, type: "run.retry", runId: "r" }).success;
    expect(["a", "6f1c-2", "A_b.c"].map(fits)).toEqual([true, true, true]);
    expect(["", "a b", "a:b", "ä", "x".repeat(129), 5].map(fits)).toEqual(Array(6).fill(false));
  });
});
