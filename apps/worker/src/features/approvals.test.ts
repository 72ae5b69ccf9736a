import { describe, expect } from "vitest";
import { proofs, textOf } from "../../testing/features/stage.js";

const { proves } = proofs();
const pay = (n: number) => [
  {
    toolCalls: [
      { name: "pay", args: { n } },
      { name: "search", args: {} },
    ],
  },
  { text: "done" },
];

describe("humanInTheLoopMiddleware", () => {
  proves("interruptOn: true and false, allowedDecisions: approve", async (stage) => {
    const run = await stage.run("approve_all", { script: pay(5) });
    expect(run.status).toBe("interrupted");
    const { actions } = await stage.approval(run);
    expect(actions).toMatchObject([{ name: "pay", allowedDecisions: ["approve", "edit", "reject"] }]);
    const ended = await stage.decide(run, [{ type: "approve" }]);
    expect(ended).toMatchObject({ status: "success", output: "done" });
    expect(
      stage
        .effects()
        .map(({ tool }) => tool)
        .sort(),
    ).toEqual(["pay", "search"]);
  });
  proves("allowedDecisions: edit", async (stage) => {
    const run = await stage.run("approve_all", { script: pay(5) });
    const editedAction = { name: "pay", args: { n: 7 } };
    await stage.decide(run, [{ type: "edit", editedAction }]);
    expect(stage.effects()).toContainEqual(expect.objectContaining({ tool: "pay", n: 7 }));
    // Every copy of the call: the model reads it as it was made.
    expect(textOf(stage.requests().at(-1))).toContain('\\"n\\":7');
    expect(textOf(stage.requests().at(-1))).not.toContain('\\"n\\":5');
  });
  proves("allowedDecisions: reject", async (stage) => {
    const run = await stage.run("approve_decisions", { script: pay(5) });
    await expect(stage.decide(run, [{ type: "approve" }])).rejects.toThrow(/reject/);
    await stage.decide(run, [{ type: "reject", message: "Wrong cost centre." }]);
    expect(JSON.stringify(stage.requests().at(-1)?.messages)).toContain("Wrong cost centre.");
    expect(stage.effects().map(({ tool }) => tool)).toEqual(["search"]);
  });
  proves("each call has its own outcome", async (stage) => {
    const calls = [5, 6, 7].map((n) => ({ name: "pay", args: { n } }));
    const script = [{ toolCalls: [...calls, { name: "search", args: {} }] }, { text: "done" }];
    const run = await stage.run("approve_all", { script });
    const edited = { type: "edit", editedAction: { name: "pay", args: { n: 70 } } };
    await stage.decide(run, [{ type: "approve" }, { type: "reject", message: "Not this." }, edited]);
    expect(
      stage
        .effects()
        .map(({ tool, n }) => `${tool} ${n}`)
        .sort(),
    ).toEqual(["pay 5", "pay 70", "search 0"]);
    const answers = stage
      .requests()
      .at(-1)
      ?.messages.filter(({ role }) => role === "tool");
    expect(answers?.map(({ text }) => text.slice(0, 9)).sort()).toEqual([
      "Not this.",
      "pay says ",
      "pay says ",
      "search sa",
    ]);
  });
  proves("argsSchema: edited arguments fit the tool's own schema", async (stage) => {
    const run = await stage.run("approve_all", { script: pay(5) });
    const edited = (n: unknown) => [{ type: "edit", editedAction: { name: "pay", args: { n } } }];
    await expect(stage.decide(run, edited("eight"))).rejects.toThrow(/do not fit 'pay': n: /);
    expect(stage.effects()).toEqual([]);
    await stage.decide(run, edited(8));
    expect(stage.effects()).toContainEqual(expect.objectContaining({ tool: "pay", n: 8 }));
  });
  proves("when", async (stage) => {
    expect((await stage.run("approve_when", { script: pay(5) })).status).toBe("success");
    const run = await stage.run("approve_when", { script: pay(500) });
    expect(run.status).toBe("interrupted");
    await stage.decide(run, [{ type: "reject" }]);
  });
  proves("description: a text, descriptionPrefix", async (stage) => {
    const run = await stage.run("approve_text", { script: pay(5) });
    expect((await stage.approval(run)).actions?.[0]?.description).toBe("Finance must see this.");
    await stage.decide(run, [{ type: "reject" }]);
  });
  proves("description: a function", async (stage) => {
    const run = await stage.run("approve_description", { script: pay(5) });
    expect((await stage.approval(run)).actions?.[0]?.description).toBe("Pay 5?");
    await stage.decide(run, [{ type: "reject" }]);
  });
  proves("a guard comes before the question", async (stage) => {
    const run = await stage.run("guarded", { script: pay(500) });
    expect(run).toMatchObject({ status: "success", output: "done" });
    expect(JSON.stringify(stage.requests().at(-1)?.messages)).toContain("Too much.");
  });
});
