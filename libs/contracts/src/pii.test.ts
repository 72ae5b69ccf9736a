import { describe, expect, it } from "vitest";
import { isDroverError, parsePiiRules } from "./index.js";

function messageOf(data: unknown): string {
  try {
    parsePiiRules(data);
  } catch (error) {
    if (isDroverError(error, "INVALID_POLICY")) return error.message;
    throw error;
  }
  return "";
}

describe("PII rules as data", () => {
  it("have the documented defaults", () => {
    expect(parsePiiRules([{ type: "email" }])).toEqual([
      {
        type: "email",
        strategy: "redact",
        applyToInput: true,
        applyToOutput: false,
        applyToToolResults: false,
        everywhere: false,
        except: [],
      },
    ]);
  });

  it("cover every place when they are the whole fleet's, unless they say otherwise", () => {
    const rules = parsePiiRules([{ type: "email" }, { type: "ip", everywhere: false }], {
      everywhereByDefault: true,
    });
    expect(rules.map((rule) => rule.everywhere)).toEqual([true, false]);
  });

  it.each([
    [{}, "PII rules"],
    [[{ type: "e mail" }], "0.type"],
    [[{ type: "email" }, { type: "ip", strategy: "shred" }], "1.strategy"],
    [[{ type: "email", aplyToInput: true }], "aplyToInput"],
    [[{ type: "email", except: ["log"] }], "0.except.0"],
    [[{ type: "x", detector: "" }], "0.detector"],
  ])("name the mistake in %j", (data, place) => {
    expect(messageOf(data)).toContain(place);
  });
});
