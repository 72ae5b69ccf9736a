import { DroverError, type Redactor } from "@drover/contracts";
import { describe, expect, it } from "vitest";
import { createLogger, type LoggerOptions } from "./logger.js";

/** A logger that keeps its lines. */
function capture(options: LoggerOptions = {}) {
  const lines: string[] = [];
  const log = createLogger({ ...options, destination: { write: (line: string) => lines.push(line) } });
  return {
    log,
    text: () => lines.join(""),
    last: (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? "null"),
    count: () => lines.length,
  };
}

const cardRule: Redactor = {
  text: (text) => text.replace(/\b\d{4}-\d{4}-\d{4}-\d{4}\b/g, "[CARD]"),
  value: (value) => value,
};
const phoneRule: Redactor = { text: (text) => text.replace(/\+\d{8,}/g, "[PHONE]"), value: (value) => value };
const blockRule: Redactor = {
  text: (text) => {
    if (text.includes("forbidden")) throw new DroverError("PII_BLOCKED", "A rule blocks this text.");
    return text;
  },
  value: (value) => value,
};

describe("a line", () => {
  it("is one JSON object with level, time, name, process, fields and message", () => {
    const { log, text, last } = capture({ name: "worker" });
    log.info({ runId: "r1", threadId: "t1", agent: "clerk", tenant: "default", attempt: 2 }, "Run started.");
    expect(text()).toMatch(/^\{.*\}\n$/);
    expect(last()).toMatchObject({
      level: "info",
      name: "worker",
      pid: process.pid,
      runId: "r1",
      threadId: "t1",
      agent: "clerk",
      tenant: "default",
      attempt: 2,
      msg: "Run started.",
    });
    expect(last().time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("can't be given a second level, time or message by its fields", () => {
    const { log, text, last } = capture();
    log.info({ level: "fatal", msg: "forged", time: 0, name: "x" }, "true");
    expect(last()).toMatchObject({ level: "info", msg: "true", level_: "fatal", msg_: "forged", name_: "x" });
    expect(text().match(/"level":/g)).toHaveLength(1);
  });

  it("is written from its level on", () => {
    const { log, count } = capture({ level: "warn" });
    log.info("no");
    log.warn("yes");
    log.error("yes");
    expect(count()).toBe(2);
    expect(log.isLevelEnabled("info")).toBe(false);
    expect(log.level).toBe("warn");
  });

  it("refuses a level that does not exist and names those that do", () => {
    expect(() => createLogger({ level: "loud" })).toThrow(
      "The log level 'loud' is not known: use trace, debug, info, warn, error, fatal, silent.",
    );
  });

  it("is readable on a terminal and as safe there", () => {
    const { log, text } = capture({ pretty: true, redactor: cardRule });
    log.warn({ agent: "clerk", input: "a document" }, "card 4111-1111-1111-1111 \u001b[2J");
    expect(text()).toMatch(/^\[\d\d:\d\d:\d\d\] WARN: card \[CARD\] \[2J\n {4}agent: "clerk"\n/);
    expect(text()).not.toContain("a document");
    expect(text()).not.toContain("\u001b");
  });
});

describe("a child", () => {
  it("carries its fields and its parent's, each once, the nearest winning", () => {
    const { log, text, last } = capture();
    const child = log.child({ worker: "w1", runId: "r1", attempt: 1 }).child({ attempt: 2 });
    child.info({ attempt: 3 }, "x");
    expect(last()).toMatchObject({ worker: "w1", runId: "r1", attempt: 3 });
    expect(text().match(/"attempt":/g)).toHaveLength(1);
  });

  it("applies its own redactor after its parent's, to the inherited fields too", () => {
    const { log, last } = capture({ redactor: cardRule });
    const child = log
      .child({ threadId: "+4915112345678" })
      .child({ agent: "clerk" }, { redactor: phoneRule });
    child.info({ note: "4111-1111-1111-1111 or +4915112345678" }, "from +4915112345678");
    expect(last()).toMatchObject({
      threadId: "[PHONE]",
      note: "[CARD] or [PHONE]",
      msg: "from [PHONE]",
    });
    log.info("+4915112345678 is no card");
    expect(last().msg).toBe("+4915112345678 is no card");
  });

  it("cleans its fields like those of a line", () => {
    const { log, text } = capture();
    log.child({ apiKey: "opensesame", input: "planted document" }).info("x");
    expect(text()).not.toMatch(/opensesame|planted document/);
  });
});

describe("what is never written", () => {
  const CARD = "4111-1111-1111-1111";
  const KEY = "sk-live-0123456789abcdef";
  const PASSWORD = "hunter2hunter2";
  const DOCUMENT = "the document's own words";
  const planted = new RegExp(`${CARD}|${KEY}|${PASSWORD}|${DOCUMENT}`);

  it.each<[string, Record<string, unknown>, string]>([
    ["the message", {}, `paid with ${CARD} by ${KEY}`],
    ["a field", { note: `card ${CARD}` }, "x"],
    ["a key", { [CARD]: 1 }, "x"],
    ["a nested list", { a: { b: [[`card ${CARD}`], KEY] } }, "x"],
    ["a URL", { url: `redis://u:${PASSWORD}@host:6379`, parsed: new URL(`redis://u:${PASSWORD}@h`) }, "x"],
    [
      "headers",
      { headers: { authorization: `Bearer ${KEY}`, cookie: PASSWORD, "x-api-key": PASSWORD } },
      "x",
    ],
    ["an error's message", { err: new Error(`no ${CARD} ${KEY}`) }, "x"],
    ["an error's cause", { err: new Error("x", { cause: new Error(DOCUMENT) }) }, "x"],
    ["an error's own fields", { err: Object.assign(new Error("x"), { command: DOCUMENT }) }, "x"],
    ["an error under another name", { list: [new DroverError("TOOL_ERROR", `of ${CARD}`)] }, "x"],
    ["input and output", { input: DOCUMENT, output: { total: DOCUMENT } }, "x"],
    ["messages", { messages: [{ role: "user", content: DOCUMENT }] }, "x"],
    ["content in depth", { step: { content: DOCUMENT, args: [DOCUMENT], context: { user: DOCUMENT } } }, "x"],
    ["longer names of content", { toolInput: DOCUMENT, tool_args: DOCUMENT, systemPrompt: DOCUMENT }, "x"],
    [
      "instances of classes",
      {
        message: new (class Human {
          content = DOCUMENT;
        })(),
      },
      "x",
    ],
    ["binary data", { bytes: Buffer.from(DOCUMENT), file: new TextEncoder().encode(DOCUMENT) }, "x"],
    ["maps and sets", { map: new Map([[DOCUMENT, CARD]]), set: new Set([KEY]) }, "x"],
    ["a long text of any name", { note: `${DOCUMENT} `.repeat(2000) }, "x"],
  ])("through %s", (_, fields, message) => {
    const { log, text, count } = capture({ level: "trace", redactor: cardRule });
    log.info(fields, message);
    log.child(fields).error(message);
    expect(count()).toBe(2);
    expect(text()).not.toMatch(planted);
  });

  it("includes values that the process was told to keep secret", () => {
    const { log, last } = capture({ secrets: ["an odd key"] });
    log.info("the provider refused an odd key here");
    expect(last().msg).toBe("the provider refused [secret] here");
  });

  it("tells sizes in place of content, and keeps numbers", () => {
    const { log, last } = capture();
    log.info(
      { input: "abcde", output: { a: 1, b: 2 }, messages: [1, 2, 3], args: new Uint8Array(4), context: 7 },
      "x",
    );
    expect(last()).toMatchObject({
      input: "[text, 5 characters]",
      output: "[object, 2 keys]",
      messages: "[list, 3 items]",
      args: "[binary, 4 bytes]",
      context: 7,
    });
  });

  it("writes [blocked] where a rule blocks, and goes on", () => {
    const { log, last } = capture({ redactor: blockRule });
    log.info({ note: "forbidden", other: "fine" }, "a forbidden word");
    expect(last()).toMatchObject({ note: "[blocked]", other: "fine", msg: "[blocked]" });
  });

  it("keeps ids that Drover made, so that a run can be found", () => {
    const digits: Redactor = { text: (text) => text.replace(/\d{4,}/g, "#"), value: (value) => value };
    const { log, last } = capture({ redactor: digits });
    log.info({ runId: "12345678-1234-4234-8234-123456789012", threadId: "customer-12345" }, "x");
    expect(last()).toMatchObject({ runId: "12345678-1234-4234-8234-123456789012", threadId: "customer-#" });
  });
});

describe("an error", () => {
  it("is a code and a message", () => {
    const { log, last } = capture();
    log.error({ err: new DroverError("MODEL_AUTH", "The key was refused. Set another.") }, "x");
    expect(last().err).toEqual({ code: "MODEL_AUTH", message: "The key was refused. Set another." });
    log.error({ err: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) }, "x");
    expect(last().err).toEqual({ code: "ECONNREFUSED", message: "refused" });
    log.error({ err: new TypeError("no function") }, "x");
    expect(last().err).toEqual({ code: "TypeError", message: "no function" });
  });

  it("has a stack at debug, redacted", () => {
    const { log, last } = capture({ level: "debug", redactor: cardRule });
    log.error({ err: new Error("card 4111-1111-1111-1111") }, "x");
    expect(last().err).toMatchObject({ stack: expect.stringMatching(/^Error: card \[CARD\]\n {4}at /) });
  });
});

describe("odd values", () => {
  it("never make it throw", () => {
    const { log, count, last } = capture();
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const wide = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`k${i}`, Array(100).fill("x")]));
    log.info({ big: 10n, date: new Date(Number.NaN), fn: () => 1, none: undefined, cyclic, wide }, "x");
    expect(last()).toMatchObject({ big: "10", date: "[invalid date]" });
    log.info(
      {
        get bad() {
          throw new Error("no");
        },
      },
      "x",
    );
    expect(last().fields).toBe("[could not be read]");
    expect(count()).toBe(2);
  });

  it("is cut where a text is long", () => {
    const { log, last } = capture();
    log.info("x".repeat(3000));
    expect(last().msg).toBe(`${"x".repeat(2000)}… [3000 characters]`);
  });
});
