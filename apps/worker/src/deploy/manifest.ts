import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

const require = createRequire(import.meta.url);

/** One object as kustomize renders it. Its shape is what its schema says; tests look into it freely. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [more: string]: unknown;
}

/** The objects of a folder of k8s/. Throws with what to install where there is no kubectl. */
export function render(folder: string): Manifest[] {
  const path = fileURLToPath(new URL(`../../../../k8s/${folder}`, import.meta.url));
  let text: string;
  try {
    text = execFileSync("kubectl", ["kustomize", path], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new Error("These tests need kubectl 1.27 or later on the PATH: its `kustomize` renders k8s/.");
  }
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** Where the classes of a group are that know its schemas. */
function moduleOf(apiVersion: string): string {
  if (apiVersion.startsWith("keda.sh/")) return `@kubernetes-models/keda/${apiVersion}`;
  if (apiVersion.startsWith("monitoring.coreos.com/"))
    return `@kubernetes-models/prometheus-operator/${apiVersion}`;
  return `kubernetes-models/${apiVersion}`;
}

type Model = new (data: object) => { validate(): void };

/** Keys that stand at the top of any object. */
const TOP = new Set(["apiVersion", "kind", "metadata", "spec", "data", "automountServiceAccountToken"]);

/**
 * Checks an object against its schema, and that the schema knows every key: kubernetes-models accepts what it does not
 * know, so that a misspelt field passes. Its validators look at every key that they know and at no other: what they
 * never looked at is unknown. Gives the places of unknown keys; throws where the schema refuses a value.
 */
export function unknownKeys(manifest: Manifest): string[] {
  const models = require(moduleOf(manifest.apiVersion)) as Record<string, Model | undefined>;
  const Model = models[manifest.kind];
  if (!Model) return [`kind: there is no ${manifest.kind} in ${manifest.apiVersion}`];
  const unseen = new Set<string>();
  const watched = Object.fromEntries(
    Object.entries(manifest).map(([key, value]) => [key, watch(value, `/${key}`, unseen)]),
  );
  // Its constructor would copy, and look at every key.
  Object.assign(new Model({}), watched).validate();
  return [...Object.keys(manifest).filter((key) => !TOP.has(key)), ...unseen];
}

/** The same value; each of its keys stands in `unseen` until somebody looks at it. */
function watch(value: unknown, place: string, unseen: Set<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const isList = Array.isArray(value);
  const copy = isList
    ? value.map((item, i) => watch(item, `${place}/${i}`, unseen))
    : Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, watch(one, `${place}/${key}`, unseen)]),
      );
  if (!isList) for (const key of Object.keys(copy)) unseen.add(`${place}/${key}`);
  return new Proxy(copy, {
    get(target, key, receiver) {
      if (typeof key === "string") unseen.delete(`${place}/${key}`);
      return Reflect.get(target, key, receiver);
    },
  });
}
