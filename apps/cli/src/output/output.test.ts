import { noUsage } from "@drover/contracts";
import { describe, expect, it } from "vitest";
import { estimateRest } from "../batch/estimate.js";
import { commonFolder, resultInBrief } from "../batch/summary.js";
import { milliseconds } from "../options.js";
import { ago, dollars, duration, rate } from "./format.js";
import { table } from "./table.js";
import { brief, fit, oneLine } from "./text.js";

describe("times and numbers", () => {
  it("are written as people say them", () => {
    expect([0, 850, 4200, 65_000, 3_600_000, 187_500_000].map(duration)).toEqual([
      "0 ms",
      "850 ms",
      "4.2 s",
      "1 min 5 s",
      "1 h",
      "2 d 4 h",
    ]);
    expect([ago(999, 1000), ago(0, 65_000), ago(0, 200_000_000), ago(null)]).toEqual([
      "just now",
      "1 min ago",
      "2 d ago",
      "",
    ]);
    expect([1234, 4.56, 0.5, 0.01].map(rate)).toEqual(["1,234/s", "4.6/s", "30/min", "0.6/min"]);
  });

  it("are read with a unit or as milliseconds", () => {
    expect(["250", "500ms", "1.5s", "5m", "2h", "1d"].map(milliseconds)).toEqual([
      250, 500, 1500, 300_000, 7_200_000, 86_400_000,
    ]);
    expect(() => milliseconds("soon")).toThrow(/Write a time like/);
  });

  it("name a price only where one is known, and say when it is a part", () => {
    expect(dollars(noUsage())).toBeNull();
    expect(dollars({ ...noUsage(), costMicros: 420_000 })).toBe("$0.42");
    expect(dollars({ ...noUsage(), costMicros: 12_345_678, unpricedCalls: 1 })).toBe("at least $12.35");
  });
});

describe("text for a terminal", () => {
  it("holds nothing that a terminal obeys", () => {
    expect(oneLine("a\u001b[31mred\nb\u0007")).toBe("a [31mred b");
    expect(brief({ a: "x\u001by" })).not.toContain("\u001b");
  });

  it("is cut by columns, not by characters", () => {
    expect(fit("蓝鹭文具有限公司", 9)).toBe("蓝鹭文具…");
    expect(fit("examples/receipts/01.txt", 10, "end")).toBe("…ts/01.txt");
    expect(fit("short", 10)).toBe("short");
  });

  it("stands in columns that fit the terminal", () => {
    const rows = [
      ["a".repeat(60), "success", "12"],
      ["b", "error", "1,234"],
    ];
    const lines = table(
      [{ head: "Document" }, { head: "Status" }, { head: "Tokens", align: "right" }],
      rows,
      40,
    );
    expect(lines.split("\n")).toEqual([
      "Document                 Status   Tokens",
      `${"a".repeat(22)}…  success      12`,
      `b${" ".repeat(24)}error     1,234`,
    ]);
  });
});

describe("a batch's closing words", () => {
  it("show a result's first text and number, and an error's code", () => {
    const output = { company: "BLUE HERON", date: "2026-02-03", total: 42.8 };
    expect(resultInBrief({ output, error: null, status: "success" })).toBe("BLUE HERON, 42.8");
    expect(resultInBrief({ output: "free text", error: null, status: "success" })).toBe("free text");
    expect(
      resultInBrief({ output: null, error: { code: "AGENT_ERROR", message: "" }, status: "error" }),
    ).toBe("AGENT_ERROR");
  });

  it("leave out the folder that all documents have in common", () => {
    expect(commonFolder(["a/b/1.txt", "a/b/2.txt"])).toBe("a/b/");
    expect(commonFolder(["a/b/1.txt", "a/bc/2.txt"])).toBe("a/");
    expect(commonFolder(["1.txt", "2.txt"])).toBe("");
    expect(commonFolder([])).toBe("");
  });

  it("estimate the rest from the trial", () => {
    const usage = { ...noUsage(), inputTokens: 900, outputTokens: 100, costMicros: 20_000 };
    const trial = { documents: 10, ms: 5000, usage, runs: 10, slots: 40 };
    expect(estimateRest(100, trial)).toEqual({
      documents: 100,
      ms: 50_000,
      tokens: 10_000,
      dollars: 0.2,
      isFasterAtScale: true,
    });
  });
});
