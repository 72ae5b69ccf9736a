import { isDroverError } from "@drover/contracts";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { Command, Send } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./index.js";

const BOB = "bob@example.com";
const GONE = "[REDACTED_EMAIL]";
const everywhere = createRedactor({ rules: [{ type: "email", everywhere: true }] });
const inputOnly = createRedactor({ rules: [{ type: "email" }] });

/** All that a message could be written as, hidden copies included. */
const dump = (message: BaseMessage) =>
  JSON.stringify([message, message.toDict(), { ...message.lc_kwargs }, message.contentBlocks]);

function richReply(): AIMessage {
  return new AIMessage({
    id: "msg-1",
    content: [
      { type: "text", text: `To ${BOB}` },
      { type: "reasoning", reasoning: `He is ${BOB}` },
      { type: "tool_call", id: "call-1", name: "send", args: { to: BOB } },
    ],
    tool_calls: [{ id: "call-1", name: "send", args: { to: BOB, copies: [BOB] }, type: "tool_call" }],
    invalid_tool_calls: [
      { id: "call-2", name: "send", args: `{"to": "${BOB}`, error: `bad: ${BOB}`, type: "invalid_tool_call" },
    ],
    additional_kwargs: {
      reasoning_content: BOB,
      tool_calls: [
        { id: "call-1", type: "function", function: { name: "send", arguments: `{"to":"\\n${BOB}"}` } },
      ],
    },
    response_metadata: { model_name: "m", note: BOB },
    usage_metadata: { input_tokens: 1_234_567, output_tokens: 2, total_tokens: 1_234_569 },
  } as never);
}

describe("LangChain's messages", () => {
  it("are covered in every part and stay what they are", () => {
    const message = richReply();
    const before = dump(message);
    const covered = everywhere.value(message, "event");
    expect(covered).not.toBe(message);
    expect(covered).toBeInstanceOf(AIMessage);
    expect(AIMessage.isInstance(covered)).toBe(true);
    expect(dump(covered)).not.toContain("bob@");
    expect(covered.id).toBe("msg-1");
    expect(covered.usage_metadata).toEqual(message.usage_metadata);
    expect(covered.tool_calls).toEqual([
      { id: "call-1", name: "send", args: { to: GONE, copies: [GONE] }, type: "tool_call" },
    ]);
    expect(covered.text).toBe(`To ${GONE}`);
    const raw = covered.additional_kwargs.tool_calls?.[0]?.function.arguments ?? "";
    expect(JSON.parse(raw)).toEqual({ to: `\n${GONE}` });
    expect(dump(message)).toBe(before);
  });

  it("choose the place by their type", () => {
    const messages = [
      new HumanMessage({ content: BOB, name: BOB }),
      richReply(),
      new ToolMessage({
        content: BOB,
        tool_call_id: "call-1",
        name: "send",
        status: "error",
        artifact: { raw: BOB },
      }),
      new SystemMessage(BOB),
    ];
    const [human, ai, tool, system] = inputOnly.value(messages, "output");
    expect(human?.content).toBe(GONE);
    expect(human?.name).toBe(GONE);
    expect(ai?.text).toBe(`To ${BOB}`);
    expect((ai as AIMessage).tool_calls?.[0]?.args.to).toBe(GONE);
    expect(tool).toBe(messages[2]);
    expect(system).toBe(messages[3]);
  });

  it("keep what a tool message carries", () => {
    const tool = new ToolMessage({
      content: BOB,
      tool_call_id: "call-1",
      name: "send",
      status: "error",
      artifact: { raw: BOB },
    });
    const covered = everywhere.value(tool, "event");
    expect(covered).toMatchObject({
      content: GONE,
      tool_call_id: "call-1",
      name: "send",
      status: "error",
      artifact: { raw: GONE },
    });
  });

  it("are known in their stored and plain forms", () => {
    const stored = mapChatMessagesToStoredMessages([new HumanMessage(BOB), new AIMessage(BOB)]);
    const serialized = JSON.parse(JSON.stringify([new HumanMessage(BOB), new AIMessage(BOB)]));
    for (const form of [
      stored,
      serialized,
      [
        { role: "user", content: BOB },
        { role: "assistant", content: BOB },
      ],
    ]) {
      const [human, ai] = inputOnly.value(form, "output");
      expect(JSON.stringify(human)).not.toContain("bob@");
      expect(JSON.stringify(ai)).toContain("bob@");
    }
  });

  it("are covered by every rule in a log and in an error, whatever their type", () => {
    expect(JSON.stringify(inputOnly.value([new AIMessage(BOB)], "log"))).not.toContain("bob@");
    expect(JSON.stringify(inputOnly.value([new AIMessage(BOB)], "error"))).not.toContain("bob@");
  });

  it("are counted once, though they hold their content twice", () => {
    const counts: number[] = [];
    const redactor = createRedactor({
      rules: [{ type: "email" }],
      onRedaction: ({ count }) => counts.push(count),
    });
    redactor.value([new HumanMessage(`${BOB} ${BOB}`)], "input");
    expect(counts).toEqual([2]);
  });

  it("may be chunks", () => {
    const chunk = new AIMessageChunk({
      content: "",
      tool_call_chunks: [{ index: 0, id: "c", name: "send", args: `{"to":"${BOB}"}` }],
    });
    const covered = everywhere.value(chunk, "event");
    expect(covered).toBeInstanceOf(AIMessageChunk);
    expect(dump(covered)).not.toContain("bob@");
    expect(covered.tool_calls?.[0]?.args).toEqual({ to: GONE });
  });
});

describe("other values", () => {
  it("give the same reference where nothing matched, cycles included", () => {
    const value: Record<string, unknown> = {
      a: [1, "x", new Map([["k", new Set(["v"])]])],
      e: new Error("no"),
      m: richReply(),
    };
    value.self = value;
    const redactor = createRedactor({ rules: [{ type: "iban", everywhere: true }] });
    expect(redactor.value(value, "event")).toBe(value);
  });

  it("keep what did not change by reference", () => {
    const clean = { a: 1 };
    const covered = everywhere.value({ clean, dirty: BOB }, "metadata");
    expect(covered).toEqual({ clean: { a: 1 }, dirty: GONE });
    expect(covered.clean).toBe(clean);
  });

  it("are covered in keys, maps, sets, errors and cycles", () => {
    const error = Object.assign(new TypeError(`no ${BOB}`, { cause: { to: BOB } }), {
      code: "E",
      detail: BOB,
    });
    const value: Record<string, unknown> = {
      [BOB]: 1,
      [`${BOB} `]: 2,
      map: new Map([[BOB, [BOB]]]),
      set: new Set([BOB]),
      error,
    };
    value.loop = { value };
    const covered = everywhere.value(value, "metadata");
    expect(Object.keys(covered).slice(0, 2)).toEqual([GONE, `${GONE} `]);
    expect(covered.map).toEqual(new Map([[GONE, [GONE]]]));
    expect(covered.set).toEqual(new Set([GONE]));
    expect((covered.loop as { value: unknown }).value).toBe(covered);
    const copy = covered.error as typeof error;
    expect(copy).toBeInstanceOf(TypeError);
    expect(copy.message).toBe(`no ${GONE}`);
    expect(copy.code).toBe("E");
    expect([copy.stack, copy.detail, JSON.stringify(copy.cause)].join()).not.toContain("bob@");
    expect(error.message).toBe(`no ${BOB}`);
  });

  it("never let one key swallow another", () => {
    expect(everywhere.value({ "a@x.io": 1, "b@x.io": 2 }, "memory")).toEqual({
      [GONE]: 1,
      [`${GONE} (2)`]: 2,
    });
    const odd = JSON.parse(`{"__proto__": "${BOB}"}`);
    expect(Object.entries(everywhere.value(odd, "memory"))).toEqual([["__proto__", GONE]]);
  });

  it("may be LangGraph's own", () => {
    const send = everywhere.value(new Send("node", { to: BOB }), "metadata");
    expect(send).toBeInstanceOf(Send);
    expect(send.args).toEqual({ to: GONE });
    const command = everywhere.value(new Command({ resume: { note: BOB }, update: { x: BOB } }), "metadata");
    expect(command).toBeInstanceOf(Command);
    expect(JSON.stringify([command.resume, command.update])).not.toContain("bob@");
  });

  it("takes a text for clean only under the label under which it was", () => {
    const redactor = createRedactor({ rules: [{ type: "phone" }] });
    const read = (value: object) => redactor.value(value, "tool_args");
    expect(read({ id: "60123456789" })).toEqual({ id: "60123456789" });
    expect(read({ phoneNumber: "60123456789" })).toEqual({ phoneNumber: "[REDACTED_PHONE]" });
    expect(read({ id: "60123456789" })).toEqual({ id: "60123456789" });
  });

  it("may be numbers, with their key as evidence", () => {
    const redactor = createRedactor({ rules: [{ type: "phone" }, { type: "credit_card" }] });
    expect(
      redactor.value({ phoneNumber: 60123456789, id: 60123456789, card: 4111111111111111 }, "tool_args"),
    ).toEqual({
      phoneNumber: "[REDACTED_PHONE]",
      id: 60123456789,
      card: "[REDACTED_CREDIT_CARD]",
    });
  });

  it("are refused when nested too deep", () => {
    let value: unknown = BOB;
    for (let i = 0; i < 100_000; i++) value = [value];
    let error: unknown;
    try {
      everywhere.value(value, "input");
    } catch (caught) {
      error = caught;
    }
    expect(isDroverError(error, "INVALID_INPUT")).toBe(true);
  });
});

describe("JSON in a string", () => {
  const redactor = createRedactor({ rules: [{ type: "email" }, { type: "credit_card" }, { type: "phone" }] });
  it.each([
    [
      `{"to":"\\nbob@example.com", "n": 1.50, "big": 12345678901234567890}`,
      `{"to":"\\n[REDACTED_EMAIL]", "n": 1.50, "big": 12345678901234567890}`,
    ],
    [`{"to":"bob\\u0040example.com"}`, `{"to":"[REDACTED_EMAIL]"}`],
    [`{"card": 4111111111111111}`, `{"card": "[REDACTED_CREDIT_CARD]"}`],
    [`[{"phoneNumber": "0123456789"}]`, `[{"phoneNumber": "[REDACTED_PHONE]"}]`],
    [
      `{"bob@example.com": {"a": "{\\"to\\":\\"bob@example.com\\"}"}}`,
      `{"[REDACTED_EMAIL]": {"a": "{\\"to\\":\\"[REDACTED_EMAIL]\\"}"}}`,
    ],
  ])("%s", (text, expected) => {
    expect(redactor.text(text, "input")).toBe(expected);
    expect(() => JSON.parse(redactor.text(text, "input"))).not.toThrow();
  });
  it("that is cut off is covered as text", () => {
    expect(redactor.text(`{"to":"\\nbob@example.com", "ca`, "input")).toBe(
      `{"to":"\\n[REDACTED_EMAIL]", "ca`,
    );
  });
});

describe("thinking that its provider signed", () => {
  const blocks = (thinking: string) => [
    { type: "thinking", thinking, signature: "c2lnbmVk" },
    { type: "text", text: "Done." },
  ];

  it("is left out as a whole where a rule covers something in it", () => {
    const message = new AIMessage({ id: "m", content: blocks(`He is ${BOB}`) as never });
    const covered = everywhere.value(message, "event");
    expect(covered.content).toEqual([{ type: "text", text: "Done." }]);
    expect(dump(covered)).not.toContain("bob@");
    expect(dump(covered)).not.toContain("c2lnbmVk");
  });

  it("stays where no rule does, with its signature", () => {
    const message = new AIMessage({ content: blocks("I think.") as never });
    expect(everywhere.value(message, "event")).toBe(message);
  });

  it.each([
    [{ type: "reasoning", reasoning: BOB, extras: { signature: "s" } }],
    [{ type: "reasoning", summary: [{ type: "summary_text", text: BOB }], encrypted_content: "e" }],
  ])("%j is sealed, too", (block) => {
    const message = new AIMessage({ content: [block, { type: "text", text: "Done." }] as never });
    expect(everywhere.value(message, "event").content).toEqual([{ type: "text", text: "Done." }]);
  });

  it("without a seal keeps its place", () => {
    const message = new AIMessage({ content: [{ type: "reasoning", reasoning: BOB }] as never });
    expect(everywhere.value(message, "event").content).toEqual([{ type: "reasoning", reasoning: GONE }]);
  });
});
