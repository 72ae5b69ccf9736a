import { readFileSync } from "node:fs";
import { workerSettings } from "../config.js";

const HEAD = `# Every variable of a worker, with its default; copy this file to .env and set what you need.
# Made from apps/worker/src/config.ts. After a change there, build and run: node apps/worker/dist/deploy/write-env-example.js
`;

const ELSEWHERE = `
# Keys of model providers. Without one, agents whose model is "offline:…" still run.
#OPENAI_API_KEY=
#OPENAI_BASE_URL=
#ANTHROPIC_API_KEY=
#ANTHROPIC_BASE_URL=

# A credential that a run's context refers to as {"$credential": "NAME"}.
#DROVER_CREDENTIAL_NAME=

# Only for the command line: whose runs it reads and writes.
#DROVER_TENANT=default
`;

/** infra/.env.example, whole: what each variable means stands above it in the source, its default in the schema. */
export function envExample(): string {
  const source = readFileSync(new URL("../../src/config.ts", import.meta.url), "utf8");
  const blocks = Object.entries(workerSettings.shape).map(([name, schema]) => {
    const value = schema.safeParse(undefined);
    const preset = value.success && value.data !== undefined ? String(value.data) : "";
    return `${meaningOf(name, source)}\n#${name}=${preset}\n`;
  });
  return [HEAD, ...blocks].join("\n") + ELSEWHERE;
}

function meaningOf(name: string, source: string): string {
  const [, text = ""] = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*${name}:`).exec(source) ?? [];
  const lines = text.split("\n").map((line) => line.replace(/^\s*\*? ?/, "").trim());
  return lines
    .filter(Boolean)
    .map((line) => `# ${line}`)
    .join("\n");
}
