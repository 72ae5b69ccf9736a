import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { execute } from "../execute/execute.js";
import { activationOf, servicesInMemory } from "../fixture/in-memory.js";
import { duplicateKey } from "./duplicate-key.js";
import { loadAgents } from "./load-agents.js";

/** Projects are made inside this lib, so that they find its dependencies as a user's project does. */
const lib = fileURLToPath(new URL("../../", import.meta.url));
let folder = "";
let count = 0;

beforeAll(() => {
  mkdirSync(join(lib, "dist"), { recursive: true });
  folder = mkdtempSync(join(lib, "dist", "load-test-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function project(config: unknown, files: Record<string, string> = {}): string {
  const root = join(folder, String(count++));
  mkdirSync(root);
  writeFileSync(join(root, "langgraph.json"), typeof config === "string" ? config : JSON.stringify(config));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  return root;
}

const define = (spec: string) => `
import { defineAgent } from "@drover/runtime";
export const agent = defineAgent(${spec});
`;
const offline = define(`{ name: "clerk", version: "7", model: "offline:receipts" }`);
const load = (root: string, env = {}) => loadAgents({ root, env });

describe("what runs", () => {
  it("a definition, with its version", async () => {
    const root = project({ graphs: { clerk: "./a.mjs:agent" } }, { "a.mjs": offline });
    const registry = await load(root);
    expect(registry.list().map(({ name, version }) => [name, version])).toEqual([["clerk", "7"]]);
    expect(() => registry.get("clark")).toThrow(/No agent is named 'clark'. This project has: clerk/);
  });

  const graph = `
    import { Annotation, StateGraph } from "@langchain/langgraph";
    const State = Annotation.Root({ n: Annotation });
    const graph = new StateGraph(State).addNode("a", () => ({ n: 1 })).addEdge("__start__", "a");
  `;
  it.each([
    ["a compiled graph", `${graph} export const agent = graph.compile();`],
    ["a function", `${graph} export const agent = () => graph.compile();`],
    ["an async function with a config", `${graph} export const agent = async (config) => graph.compile();`],
  ])("%s, with its file's hash as version", async (_, text) => {
    const registry = await load(project({ graphs: { raw: "./a.mjs:agent" } }, { "a.mjs": text }));
    const agent = registry.get("raw");
    expect(agent.version).toMatch(/^[0-9a-f]{12}$/);
    expect(await execute(agent, activationOf({ input: { n: 0 } }), servicesInMemory())).toMatchObject({
      output: { n: 1 },
    });
  });

  it("TypeScript, in a process of its own", () => {
    const root = project(
      { graphs: { clerk: { path: "./a.ts:agent", description: "Reads" } }, env: { UNUSED: "1" } },
      { "a.ts": offline.replace('"7"', '"7" as string') },
    );
    const script = `
      import { loadAgents } from "@drover/runtime";
      const registry = await loadAgents({ root: ${JSON.stringify(root)}, env: {} });
      console.log(registry.list().map((a) => a.name + a.version + a.description).join());
    `;
    const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: lib });
    expect(out.toString().trim()).toBe("clerk7Reads");
  });
});

describe("what is refused, and what it says", () => {
  const good = { "a.mjs": offline };
  it.each([
    ["no file at all", undefined, {}, "INVALID_AGENT", /langgraph\.json could not be read/],
    ["not JSON", "{", {}, "INVALID_AGENT", /langgraph\.json is not JSON/],
    ["an unknown key", { graphs: { a: "./a.mjs:b" }, graph: 1 }, good, "INVALID_AGENT", /"graph"/],
    ["no graphs", { graphs: {} }, good, "INVALID_AGENT", /graphs: names no agent/],
    ["a wrong path", { graphs: { a: "./a.mjs" } }, good, "INVALID_AGENT", /graphs\.a: .*file\.ts:export/],
    [
      "a duplicate name",
      `{"graphs": {"clerk": "./a.mjs:agent", "clerk": "./b.mjs:agent"}}`,
      good,
      "INVALID_AGENT",
      /graphs\.clerk: the name stands here twice/,
    ],
    ["a missing file", { graphs: { a: "./x.mjs:b" } }, good, "INVALID_AGENT", /graphs\.a: there is no file/],
    [
      "a missing export",
      { graphs: { clerk: "./a.mjs:wrong" } },
      good,
      "INVALID_AGENT",
      /graphs\.clerk: .*no export 'wrong'; it exports agent/,
    ],
    ["another name", { graphs: { a: "./a.mjs:agent" } }, good, "INVALID_AGENT", /named 'clerk'/],
    [
      "what is no agent",
      { graphs: { a: "./a.mjs:agent" } },
      { "a.mjs": "export const agent = 5" },
      "INVALID_AGENT",
      /graphs\.a: it is no agent/,
    ],
    [
      "a module that throws",
      { graphs: { a: "./a.mjs:agent" } },
      { "a.mjs": "throw new Error('boom')" },
      "INVALID_AGENT",
      /graphs\.a: .*a\.mjs could not be loaded: boom/,
    ],
    [
      "an invalid policy",
      { graphs: { clerk: "./a.mjs:agent" } },
      { "a.mjs": define(`{ name: "clerk", model: "offline:receipts", policy: { modelCals: {} } }`) },
      "INVALID_POLICY",
      /graphs\.clerk: policy: .*"modelCals"/,
    ],
    [
      "a missing key, by name",
      { graphs: { clerk: "./a.mjs:agent" } },
      { "a.mjs": define(`{ name: "clerk", model: "openai:gpt-5-mini" }`) },
      "MISSING_API_KEY",
      /graphs\.clerk: .*OPENAI_API_KEY/,
    ],
    [
      "an unknown provider",
      { graphs: { clerk: "./a.mjs:agent" } },
      { "a.mjs": define(`{ name: "clerk", model: "opnai:gpt-5-mini" }`) },
      "UNKNOWN_MODEL_PROVIDER",
      /graphs\.clerk: .*"opnai"/,
    ],
  ])("%s", async (_, config, files, code, message) => {
    const root = config === undefined ? mkdtempSync(join(tmpdir(), "drover-")) : project(config, files);
    const error = await load(root).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code });
    expect(String(error)).toMatch(message);
    expect(String(error)).toContain("langgraph.json");
  });
});

it("describes agents without a provider's key where nothing is to be built", async () => {
  const agent = define(`{ name: "clerk", model: "openai:gpt-5-mini", policy: { modelCalls: { run: 3 } } }`);
  const root = project({ graphs: { clerk: "./a.mjs:agent" } }, { "a.mjs": agent });
  const clerk = (await loadAgents({ root, env: {}, build: false })).get("clerk");
  expect(clerk.definition?.policy.modelCalls).toMatchObject({ run: 3 });
  await expect(clerk.compile()).rejects.toMatchObject({ code: "MISSING_API_KEY" });
});

it("finds keys that stand twice, wherever they stand", () => {
  expect(duplicateKey('{"a": [{"b": 1}, {"b": 1, "c": "\\"a\\": {"}], "b": 2}')).toBeUndefined();
  expect(duplicateKey('{"a": {"b": 1, "c": {}, "b": 2}}')).toBe("a.b");
});
