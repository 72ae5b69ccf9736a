import { isDroverError, type Redaction } from "@drover/contracts";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./index.js";

const HASH_KEY = "a key of tenant one";

describe("strategies", () => {
  it.each([
    ["redact", "email", "Write to bob@example.com.", "Write to [REDACTED_EMAIL]."],
    ["mask", "email", "Write to bob@example.com.", "Write to b***@example.com."],
    [
      "mask",
      "credit_card",
      "Pay 4111 1111 1111 1234? No: 4111-1111-1111-1111.",
      "Pay 4111 1111 1111 1234? No: ****-****-****-1111.",
    ],
    ["mask", "ip", "from 192.168.1.100", "from *********.100"],
    ["mask", "phone", "TEL: 03-40210276", "TEL: *******0276"],
    ["mask", "mac_address", "00:1a:2b:3c:4d:5e", "*************d:5e"],
    [
      "redact",
      "url",
      "See https://example.com/a?b=1, and www.example.org.",
      "See [REDACTED_URL], and [REDACTED_URL].",
    ],
  ] as const)("%s of %s", (strategy, type, text, expected) => {
    expect(createRedactor({ rules: [{ type, strategy }] }).text(text, "input")).toBe(expected);
  });

  it("hashes by tenant, stably, whatever the spelling", () => {
    const rules = [{ type: "credit_card", strategy: "hash" as const }];
    const one = createRedactor({ rules, hashKey: HASH_KEY });
    const other = createRedactor({ rules, hashKey: "a key of tenant two" });
    const hash = one.text("4111111111111111", "input");
    expect(hash).toMatch(/^<credit_card_hash:[0-9a-f]{8}>$/);
    expect(one.text("4111 1111 1111 1111", "input")).toBe(hash);
    expect(createRedactor({ rules, hashKey: HASH_KEY }).text("4111-1111-1111-1111", "output")).toBe(
      "4111-1111-1111-1111",
    );
    expect(other.text("4111111111111111", "input")).not.toBe(hash);
  });

  it("blocks by type and place, never by text", () => {
    const heard: Redaction[] = [];
    const redactor = createRedactor({
      rules: [{ type: "email", strategy: "block" }],
      onRedaction: (r) => heard.push(r),
    });
    let error: unknown;
    try {
      redactor.value({ messages: [{ role: "user", content: "I am bob@example.com" }] }, "input");
    } catch (caught) {
      error = caught;
    }
    expect(isDroverError(error, "PII_BLOCKED")).toBe(true);
    expect(String(error)).toContain('"email"');
    expect(String(error)).toContain("input");
    expect(JSON.stringify([String(error), (error as Error).stack])).not.toContain("bob@");
    expect(heard).toEqual([{ type: "email", strategy: "block", place: "input", count: 1 }]);
    expect(redactor.text("bob@example.com", "log")).toBe("[REDACTED_EMAIL]");
    expect(redactor.text("bob@example.com", "error")).toBe("[REDACTED_EMAIL]");
  });

  it("counts by type, strategy and place", () => {
    const heard: Redaction[] = [];
    const redactor = createRedactor({
      rules: [{ type: "email" }, { type: "ip", strategy: "mask" }],
      onRedaction: (r) => heard.push(r),
    });
    redactor.value(["a@x.io b@x.io", { ip: "10.0.0.1" }], "input");
    expect(heard).toEqual([
      { type: "email", strategy: "redact", place: "input", count: 2 },
      { type: "ip", strategy: "mask", place: "input", count: 1 },
    ]);
  });

  it("changes nothing the second time", () => {
    const rules = [
      { type: "phone", strategy: "hash" as const },
      { type: "email", strategy: "mask" as const },
      { type: "digits", detector: "[0-9a-f]{8}|REDACTED", strategy: "redact" as const },
    ];
    const redactor = createRedactor({ rules, hashKey: HASH_KEY });
    const once = redactor.text("TEL: 03-40210276, bob@example.com, 12345678", "input");
    expect(once).toMatch(/^TEL: <phone_hash:[0-9a-f]{8}>, b\*\*\*@example.com, \[REDACTED_DIGITS\]$/);
    expect(redactor.text(once, "input")).toBe(once);
  });
});

describe("rules that match the same text", () => {
  const texts = (rules: Parameters<typeof createRedactor>[0]["rules"], text: string) =>
    createRedactor({ rules, hashKey: HASH_KEY }).text(text, "input");

  it("lets the longer match win", () => {
    expect(
      texts(
        [
          { type: "email", strategy: "redact" },
          { type: "url", strategy: "mask" },
        ],
        "https://x.com/bob@example.com",
      ),
    ).toMatch(/^\*+\.com$/);
  });
  it("then the stricter strategy", () => {
    const same = (strategy: "mask" | "hash" | "redact", type: string) => ({
      type,
      strategy,
      detector: "secret",
    });
    expect(texts([same("mask", "a"), same("hash", "b"), same("redact", "c")], "secret")).toBe("[REDACTED_C]");
    expect(texts([same("mask", "a"), same("hash", "b")], "secret")).toMatch(/^<b_hash/);
  });
  it("then the order", () => {
    expect(
      texts(
        [
          { type: "a", detector: "secret" },
          { type: "b", detector: "secret" },
        ],
        "secret",
      ),
    ).toBe("[REDACTED_A]");
  });
  it("leaves nothing of a match that lost", () => {
    const rules = [
      { type: "a", detector: "abcdef" },
      { type: "b", detector: "efgh" },
      { type: "c", detector: "ghijkl" },
    ];
    expect(texts(rules, "-abcdefghijkl-")).toBe("-[REDACTED_A][REDACTED_C]-");
    expect(texts(rules.slice(0, 2), "-abcdefghijkl-")).toBe("-[REDACTED_A]ijkl-");
    expect(texts(rules.slice(1), "-abcdefghijkl-")).toBe("-abcd[REDACTED_C]-");
  });
});

describe("places", () => {
  const email = "bob@example.com";
  it.each([
    [{}, ["input", "tool_args", "approval", "memory", "file", "error", "event", "log", "metadata"]],
    [
      { applyToInput: false, applyToOutput: true },
      ["output", "reasoning", "structured_output", "tool_args", "log"],
    ],
    [{ applyToToolResults: true }, ["input", "tool_result"]],
    [
      { everywhere: true, applyToInput: false },
      ["input", "output", "reasoning", "structured_output", "tool_result", "tool_args"],
    ],
  ] as const)("a rule with %j covers %j", (flags, places) => {
    const redactor = createRedactor({ rules: [{ type: "email", ...flags }] });
    for (const place of places) expect(redactor.text(email, place)).toBe("[REDACTED_EMAIL]");
  });
  it("leaves the model's and the tools' words alone by default, and what except names", () => {
    const redactor = createRedactor({ rules: [{ type: "email", except: ["tool_args"] }] });
    for (const place of ["output", "reasoning", "structured_output", "tool_result", "tool_args"] as const) {
      expect(redactor.text(email, place)).toBe(email);
    }
    expect(redactor.text(email, "approval")).toBe("[REDACTED_EMAIL]");
  });
});
