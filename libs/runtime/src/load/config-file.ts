import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { DroverError, nameSchema, parseOrThrow } from "@drover/contracts";
import { z } from "zod";
import { duplicateKey } from "./duplicate-key.js";

export const CONFIG_FILE = "langgraph.json";

const exportPath = z.string().regex(/^.+\.[cm]?[jt]sx?:[A-Za-z_$][\w$]*$/, "is 'path/to/file.ts:export'");

/** Keys that LangGraph's own tools read and that mean nothing here. */
const ignored = z.unknown().optional();

const configSchema = z.strictObject({
  graphs: z
    .record(
      nameSchema,
      z.union([exportPath, z.strictObject({ path: exportPath, description: z.string().optional() })]),
    )
    .refine((graphs) => Object.keys(graphs).length > 0, "names no agent"),
  /** A file of NAME=value lines beside langgraph.json, or the variables themselves. The process's own win. */
  env: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  $schema: ignored,
  dependencies: ignored,
  node_version: ignored,
  python_version: ignored,
  pip_config_file: ignored,
  pip_installer: ignored,
  base_image: ignored,
  image_distro: ignored,
  dockerfile_lines: ignored,
  keep_pkg_tools: ignored,
  api_version: ignored,
  store: ignored,
  checkpointer: ignored,
  auth: ignored,
  encryption: ignored,
  http: ignored,
  webhooks: ignored,
  ui: ignored,
  ui_config: ignored,
  source: ignored,
  internal_docker_tag: ignored,
  _INTERNAL_docker_tag: ignored,
});

export interface GraphEntry {
  name: string;
  /** Relative to the file's folder. */
  file: string;
  exportName: string;
  description: string | undefined;
}

export interface ConfigFile {
  path: string;
  graphs: GraphEntry[];
  env: Record<string, string | undefined>;
}

/** Reads `langgraph.json` strictly. Throws INVALID_AGENT with the file and the path of every wrong key. */
export async function readConfigFile(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ConfigFile> {
  const path = join(root, CONFIG_FILE);
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new DroverError(
      "INVALID_AGENT",
      `${path} could not be read: write one that names your agents, for example {"graphs": {"clerk": "./clerk.ts:agent"}}.`,
      { cause },
    );
  });
  const config = parseOrThrow(configSchema, parseJson(text, path), path, "INVALID_AGENT");
  const twice = duplicateKey(text);
  if (twice !== undefined) {
    throw new DroverError("INVALID_AGENT", `${path}: ${twice}: the name stands here twice; rename one.`);
  }
  return {
    path,
    graphs: Object.entries(config.graphs).map(([name, value]) => entry(name, value)),
    env: { ...(await variables(root, config.env)), ...env },
  };
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "";
    throw new DroverError("INVALID_AGENT", `${path} is not JSON: ${why}.`, { cause });
  }
}

function entry(name: string, value: string | { path: string; description?: string | undefined }): GraphEntry {
  const { path, description } = typeof value === "string" ? { path: value, description: undefined } : value;
  const colon = path.lastIndexOf(":");
  return { name, file: path.slice(0, colon), exportName: path.slice(colon + 1), description };
}

async function variables(
  root: string,
  env: string | Record<string, string> | undefined,
): Promise<Record<string, string | undefined>> {
  if (typeof env !== "string") return env ?? {};
  // A fresh clone has no .env file, which is no mistake: what it should hold is missed by name later.
  const text = await readFile(join(root, env), "utf8").catch(() => "");
  return parseEnv(text) as Record<string, string | undefined>;
}
