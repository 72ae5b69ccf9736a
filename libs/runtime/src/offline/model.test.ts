import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createAgent, tool, toolStrategy } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { OfflineChatModel, registerOfflineRules } from "./index.js";

const RECEIPT = `BLUE HERON STATIONERY SDN BHD
12, JALAN MELATI 3, 50000 KUALA LUMPUR
DATE: 03/04/2026
TOTAL 12.50`;

const Extract = z.object({ company: z.string().nullable(), total: z.number().nullable() });

function clerk(responseFormat: unknown = Extract) {
  return createAgent({
    model: new OfflineChatModel({ rules: "receipts" }),
    tools: [
      tool(() => JSON.stringify({ vendorId: "V-1" }), {
        name: "lookup_vendor",
        description: "d",
        schema: z.object({ company: z.string() }),
      }),
      tool(() => JSON.stringify({ postingId: "P-1" }), {
        name: "post_expense",
        description: "d",
        schema: z.object({ amount: z.number() }),
      }),
    ],
    responseFormat: responseFormat as typeof Extract,
  });
}

const human = (text: string) => new HumanMessage({ id: "h", content: text });
const calls = (messages: BaseMessage[]) =>
  messages.flatMap((message) =>
    AIMessage.isInstance(message) ? (message.tool_calls ?? []).map((call) => call) : [],
  );

describe("OfflineChatModel", () => {
  it("drives an agent through both tools to its structured output", async () => {
    const result = await clerk().invoke({ messages: [human(RECEIPT)] });
    expect(calls(result.messages).map((call) => call.name)).toEqual(["lookup_vendor", "post_expense"]);
    expect(result.structuredResponse).toEqual({ company: "BLUE HERON STATIONERY SDN BHD", total: 12.5 });
  });

  it("answers through a tool when the response format is a tool strategy", async () => {
    const result = await clerk(toolStrategy(Extract)).invoke({ messages: [human(RECEIPT)] });
    expect(result.structuredResponse).toEqual({ company: "BLUE HERON STATIONERY SDN BHD", total: 12.5 });
  });

  it("gives the same ids and counts for the same conversation, and other ids for another one", async () => {
    const ask = () => clerk().invoke({ messages: [human(RECEIPT)] });
    const [first, second] = [await ask(), await ask()];
    const other = await clerk().invoke({ messages: [human(RECEIPT.replace("12.50", "13.50"))] });
    expect(calls(first.messages)[0]?.id).toMatch(/^call_[0-9a-f]{24}$/);
    expect(calls(first.messages)[0]).toEqual(calls(second.messages)[0]);
    expect(calls(first.messages)[0]?.id).not.toEqual(calls(other.messages)[0]?.id);
  });

  it("says in every answer what it is, and counts four characters a token", async () => {
    const answer = await new OfflineChatModel({ rules: "receipts" }).invoke([human(RECEIPT)]);
    expect(answer.response_metadata).toEqual({
      model_name: "offline:receipts",
      offline: true,
      note: "rules, not a language model",
    });
    expect(answer.usage_metadata).toMatchObject({ input_tokens: Math.ceil(RECEIPT.length / 4) });
  });

  it("streams chunks that add up to the answer", async () => {
    const model = new OfflineChatModel({ rules: "receipts" });
    const whole = await model.invoke([human(RECEIPT)]);
    let chunks = 0;
    let text = "";
    let metadata: unknown;
    for await (const chunk of await model.stream([human(RECEIPT)])) {
      chunks++;
      text += chunk.text;
      metadata = chunk.response_metadata;
    }
    expect(chunks).toBeGreaterThan(3);
    expect(text).toBe(whole.text);
    expect(metadata).toEqual(whole.response_metadata);
  });

  it("streams tool calls through an agent as messages", async () => {
    const seen: string[] = [];
    for await (const [message] of await clerk().stream(
      { messages: [human(RECEIPT)] },
      { streamMode: "messages" },
    )) {
      if (AIMessage.isInstance(message)) seen.push(...(message.tool_calls ?? []).map((call) => call.name));
    }
    expect(seen).toEqual(["lookup_vendor", "post_expense"]);
  });

  it("gives structured output without an agent", async () => {
    const model = new OfflineChatModel({ rules: "receipts" }).withStructuredOutput(Extract);
    expect(await model.invoke([human(RECEIPT)])).toEqual({
      company: "BLUE HERON STATIONERY SDN BHD",
      total: 12.5,
    });
  });

  it("refuses pictures and unknown rules in words that help", async () => {
    const picture = new HumanMessage({ content: [{ type: "image", mimeType: "image/png", data: "AAAA" }] });
    await expect(new OfflineChatModel({ rules: "receipts" }).invoke([picture])).rejects.toMatchObject({
      code: "UNREADABLE_DOCUMENT",
      message: expect.stringContaining("Use a model that takes images"),
    });
    expect(() => new OfflineChatModel({ rules: "poems" })).toThrow(/offline:poems.*Known: offline:receipts/);
  });

  it("calls nothing after an abort", async () => {
    const controller = new AbortController();
    controller.abort();
    const model = new OfflineChatModel({ rules: "receipts" });
    await expect(model.invoke([human(RECEIPT)], { signal: controller.signal })).rejects.toThrow(/abort/i);
  });

  it("takes rules of one's own", async () => {
    registerOfflineRules("echo", (messages) => ({ content: messages.at(-1)?.text ?? "" }));
    expect((await new OfflineChatModel({ rules: "echo" }).invoke("hello")).text).toBe("hello");
  });
});

describe("the rules of offline:receipts", () => {
  const model = new OfflineChatModel({ rules: "receipts" });
  const withTools = model.bindTools([{ name: "post_expense" }]);

  it("report what a reviewer edited before it was posted", async () => {
    const answer = await withTools.invoke([
      human(RECEIPT),
      new AIMessage({ content: "", tool_calls: [{ id: "c", name: "post_expense", args: { amount: 11 } }] }),
      new ToolMessage({ tool_call_id: "c", name: "post_expense", content: '{"postingId":"P-7"}' }),
    ]);
    expect(JSON.parse(answer.text)).toMatchObject({ total: 11, postingId: "P-7", note: null });
  });

  it("say why nothing was posted after a rejection", async () => {
    const answer = await withTools.invoke([
      human(RECEIPT),
      new AIMessage({ content: "", tool_calls: [{ id: "c", name: "post_expense", args: { amount: 12.5 } }] }),
      new ToolMessage({ tool_call_id: "c", name: "post_expense", status: "error", content: "wrong month" }),
    ]);
    expect(JSON.parse(answer.text)).toMatchObject({
      total: 12.5,
      postingId: null,
      note: "Not posted: wrong month",
    });
  });

  it("read the newest document of a thread only", async () => {
    const second = RECEIPT.replace("BLUE HERON", "GREY OWL");
    const answer = await model.invoke([human(RECEIPT), new AIMessage("done"), human(second)]);
    expect(JSON.parse(answer.text).company).toBe("GREY OWL STATIONERY SDN BHD");
  });

  it("post nothing without a total", async () => {
    const answer = await withTools.invoke([human("BLUE HERON SDN BHD\nDATE: 03/04/2026")]);
    expect(answer.tool_calls).toEqual([]);
    expect(JSON.parse(answer.text)).toMatchObject({ total: null, note: expect.stringContaining("no total") });
  });
});
