import { describe, expect } from "vitest";
import { proofs, type Stage, textOf } from "../../testing/features/stage.js";

const { proves } = proofs();
const CLAUDE = "anthropic-messages";
const ofAgent = (stage: Stage) => stage.requests().filter(({ api }) => api !== CLAUDE);
const ofHelper = (stage: Stage) => stage.requests().filter(({ api }) => api === CLAUDE);
const shown = (stage: Stage) =>
  ofAgent(stage)
    .at(-1)
    ?.messages.map(({ text }) => text) ?? [];
const turn = (name: string, args: object = {}) => ({ toolCalls: [{ name, args }] });

let conversations = 0;
/** Some turns on one thread; every answer of the agent has so many characters, and the summariser says SUM. */
async function converse(stage: Stage, agent: string, turns = 3, length = 200) {
  conversations += 1;
  const thread = `c${conversations}`;
  const script = (request: { api: string }) => ({
    text: request.api === CLAUDE ? "SUM" : "a".repeat(length),
  });
  for (let i = 1; i <= turns; i += 1) {
    const run = await stage.run(agent, { script, input: `question ${i}`, thread });
    expect(run.status).toBe("success");
  }
}
const PREFIX = "Here is a summary of the conversation to date:";

describe("summarizationMiddleware", () => {
  for (const [what, agent, warning] of [
    ["trigger: messages, keep: messages", "sum_messages"],
    ["trigger: tokens", "sum_tokens"],
    ["trigger: fraction, with a profile by hand", "sum_fraction"],
    ["trigger: fraction, with the model's profile", "sum_profile"],
    ["trigger: several in one are AND", "sum_and"],
    ["trigger: a list is OR", "sum_or"],
    ["tokenCounter", "sum_counter"],
    [
      "maxTokensBeforeSummary, messagesToKeep",
      "sum_older",
      /maxTokensBeforeSummary is now[\s\S]*messagesToKeep is/,
    ],
  ] as const) {
    proves(what, async (stage) => {
      await converse(stage, agent);
      expect(shown(stage)).toEqual(["question 1", `${PREFIX}\n\nSUM`, "a".repeat(200), "question 3"]);
      if (warning) expect(stage.warnings("start")).toMatch(warning);
    });
  }
  proves("a trigger that is not reached summarises nothing", async (stage) => {
    await converse(stage, "sum_and", 3, 10);
    expect(ofHelper(stage)).toHaveLength(0);
    await converse(stage, "sum_and", 3, 300);
    expect(ofHelper(stage)).toHaveLength(1);
  });
  for (const [what, agent] of [
    ["keep: tokens", "sum_keep_tokens"],
    ["keep: fraction", "sum_keep_fraction"],
  ] as const) {
    proves(what, async (stage) => {
      await converse(stage, agent);
      expect(shown(stage)).toEqual(["question 1", `${PREFIX}\n\nSUM`, "question 3"]);
    });
  }
  proves("model: by name, another than the agent's", async (stage) => {
    await converse(stage, "sum_messages");
    expect(ofHelper(stage).map(({ model }) => model)).toEqual(["claude-haiku-4-5"]);
  });
  proves("summaryPrompt", async (stage) => {
    await converse(stage, "sum_prompt");
    expect(ofHelper(stage).map(({ messages }) => messages[0]?.text)).toEqual([
      expect.stringMatching(/^Boil down: Human: question 1/),
    ]);
  });
  proves("summaryPrefix", async (stage) => {
    await converse(stage, "sum_prefix");
    expect(shown(stage)[1]).toBe("Before:\n\nSUM");
  });
  proves("trimTokensToSummarize, and the goal is seen in any case", async (stage) => {
    await converse(stage, "sum_trim");
    const asked = textOf(ofHelper(stage)[0]);
    expect(asked).toContain("question 1");
    expect(asked).not.toContain("a".repeat(100));
  });
  proves("a context overflow summarises and asks again", async (stage) => {
    const script = (request: { api: string; messages: object[] }) => {
      if (request.api === CLAUDE) return { text: "SUM" };
      return request.messages.length > 4
        ? { status: 400, errorType: "context_length_exceeded" }
        : { text: "fine" };
    };
    for (let i = 1; i <= 4; i += 1) {
      const run = await stage.run("sum_overflow", { script, input: `question ${i}`, thread: "o" });
      expect(run).toMatchObject({ status: "success", output: "fine" });
    }
    expect(shown(stage)[0]).toBe("question 1");
  });
});

describe("contextEditingMiddleware", () => {
  const looking = [turn("search", { n: 41 }), turn("search", { n: 42 }), { text: "done" }];
  const left = (stage: Stage) => textOf(ofAgent(stage).at(-1)).split("search says").length - 1;
  for (const [what, agent, warning] of [
    ["edits: trigger: messages, keep: messages", "edit_messages"],
    ["edits: trigger: tokens, keep: tokens", "edit_tokens"],
    ["edits: trigger: fraction, keep: fraction", "edit_fraction"],
    ["edits: triggerTokens, keepMessages", "edit_older", /triggerTokens is deprecated[\s\S]*keepMessages is/],
  ] as const) {
    proves(what, async (stage) => {
      await stage.run(agent, { script: looking });
      expect(left(stage)).toBe(1);
      expect(textOf(ofAgent(stage).at(-1))).toContain("[cleared]");
      if (warning) expect(stage.warnings("start")).toMatch(warning);
    });
  }
  proves("edits: clearAtLeast", async (stage) => {
    await stage.run("edit_at_least", { script: looking });
    expect(left(stage)).toBe(0);
    expect(stage.warnings("start")).toContain("clearAtLeast is deprecated");
  });
  proves("edits: clearToolInputs", async (stage) => {
    await stage.run("edit_inputs", { script: looking });
    expect(textOf(ofAgent(stage).at(-1))).not.toMatch(/n\\*": *42/);
  });
  proves("edits: excludeTools", async (stage) => {
    await stage.run("edit_exclude", { script: [turn("search"), turn("pay"), { text: "done" }] });
    expect(textOf(ofAgent(stage).at(-1))).toContain("pay says");
    expect(left(stage)).toBe(0);
  });
  proves("edits: placeholder", async (stage) => {
    await stage.run("edit_placeholder", { script: looking });
    expect(textOf(ofAgent(stage).at(-1))).toContain("[gone]");
  });
  proves("tokenCountMethod: model", async (stage) => {
    const run = await stage.run("edit_by_model", { script: [{ text: "fine" }] });
    expect(run).toMatchObject({
      status: "error",
      error: { message: expect.stringContaining("does not support token counting") },
    });
  });
  proves("tokenCountMethod: approx", async (stage) => {
    await stage.run("edit_approx", { script: looking });
    expect(left(stage)).toBe(0);
  });
});

describe("todoListMiddleware", () => {
  const todos = (content: string) => turn("write_todos", { todos: [{ content, status: "in_progress" }] });
  proves("its tool, and progress that is visible while the run goes on", async (stage) => {
    const run = await stage.run("todo_list", {
      script: [todos("first"), { text: "done" }],
      streamMode: ["updates"],
    });
    expect(run.output).toBe("done");
    const update = (await stage.events(run)).find((event) =>
      JSON.stringify(event).includes('"node":"tools"'),
    );
    expect(JSON.stringify(update)).toContain('"todos":[{"content":"first","status":"in_progress"}]');
  });
  proves("two calls in one answer: the model is told", async (stage) => {
    const [one, two] = [todos("a"), todos("b")].map(({ toolCalls }) => toolCalls[0]);
    const run = await stage.run("todo_list", {
      script: [{ toolCalls: [one, two] as never }, { text: "done" }],
    });
    expect(run.output).toBe("done");
    expect(textOf(ofAgent(stage).at(-1))).toContain("Call it once");
  });
  proves("systemPrompt, toolDescription", async (stage) => {
    await stage.run("todo_words", { script: [{ text: "done" }] });
    expect(textOf(ofAgent(stage)[0])).toContain("Keep a list.");
    expect(textOf(ofAgent(stage)[0])).toContain("Writes it down.");
  });
});

describe("llmToolSelectorMiddleware", () => {
  const choosing =
    (...tools: string[]) =>
    (request: { api: string }) =>
      request.api === CLAUDE ? turn("selected_tools", { tools }) : { text: "done" };
  proves("model, systemPrompt, maxTools", async (stage) => {
    const run = await stage.run("selector", { script: choosing("pay", "search") });
    expect(ofAgent(stage)[0]?.tools).toEqual(["pay"]);
    expect(textOf(ofHelper(stage)[0])).toContain("Choose well.");
    expect(run.usage.modelCalls).toBe(2);
  });
  proves("alwaysInclude", async (stage) => {
    await stage.run("selector_always", { script: choosing() });
    expect(ofAgent(stage)[0]?.tools).toEqual(["pay"]);
  });
});

describe("toolEmulatorMiddleware", () => {
  const script = (request: { api: string; messages: object[] }) => {
    if (request.api === CLAUDE) return { text: "as if" };
    return request.messages.length > 1
      ? { text: "done" }
      : { toolCalls: [turn("pay"), turn("search")].flatMap((t) => t.toolCalls) };
  };
  proves("all tools by default, model", async (stage) => {
    expect((await stage.run("emulator", { script })).output).toBe("done");
    expect(stage.effects()).toEqual([]);
    expect(ofHelper(stage)).toHaveLength(2);
  });
  proves("tools", async (stage) => {
    expect((await stage.run("emulator_tools", { script })).output).toBe("done");
    expect(stage.effects().map(({ tool }) => tool)).toEqual(["search"]);
  });
});

describe("dynamicSystemPromptMiddleware", () => {
  proves("fn", async (stage) => {
    await stage.run("dynamic_prompt", { script: [{ text: "done" }], context: { region: "EU" } });
    expect(textOf(ofAgent(stage)[0])).toContain("Region EU, 1 message.");
  });
});

describe("middleware of one's own", () => {
  proves("all six hooks, a jump, a state schema and a context schema", async (stage) => {
    const input = { messages: [{ role: "user", content: "hi" }], seen: 0 };
    const script = [turn("search"), { text: "never" }];
    const run = await stage.run("own_hooks", { script, input, context: { most: 1 } });
    expect(run.status).toBe("success");
    expect(
      stage
        .effects()
        .map(({ hook }) => hook)
        .filter(Boolean),
    ).toEqual(["beforeAgent", "beforeModel", "wrapModelCall", "afterModel", "wrapToolCall", "beforeModel"]);
    const before = stage.effects().length;
    await stage.run("own_hooks", { script: [{ text: "done" }] });
    expect(stage.effects().slice(before).at(-1)).toEqual({ hook: "afterAgent" });
  });
});
