/**
 * Every middleware that langchain exports, with its options and their values, read from the package's own type files:
 * so that none is forgotten when the package grows.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "node_modules/langchain/dist/agents/middleware";
const ZOD = (name) => `declare const ${name}: z.ZodObject<{`;

/** Where the options of each stand: a type file and the beginnings of their blocks, each with a prefix for its names. */
const SOURCES = {
  summarizationMiddleware: [
    "summarization",
    { "": ZOD("contextSchema"), "trigger.": EFFECTS("contextSizeSchema"), "keep.": EFFECTS("keepSchema") },
  ],
  humanInTheLoopMiddleware: [
    "hitl",
    { "": ZOD("contextSchema"), "interruptOn.": ZOD("InterruptOnConfigSchema") },
  ],
  modelCallLimitMiddleware: ["modelCallLimit", { "": ZOD("contextSchema") }],
  toolCallLimitMiddleware: ["toolCallLimit", { "": ZOD("ToolCallLimitOptionsSchema") }],
  modelFallbackMiddleware: ["modelFallback", { "...": "declare function modelFallbackMiddleware(" }],
  modelRetryMiddleware: ["modelRetry", { "": ZOD("ModelRetryMiddlewareOptionsSchema") }],
  toolRetryMiddleware: ["toolRetry", { "": ZOD("ToolRetryMiddlewareOptionsSchema") }],
  toolErrorMiddleware: ["toolError", { "": "interface ToolErrorMiddlewareConfig {" }],
  piiMiddleware: ["pii", { "": "interface RedactionRuleConfig {", " ": ZOD("contextSchema") }],
  piiRedactionMiddleware: ["piiRedaction", { "": ZOD("contextSchema") }],
  todoListMiddleware: ["todoListMiddleware", { "": "interface TodoListMiddlewareOptions {" }],
  llmToolSelectorMiddleware: ["llmToolSelector", { "": ZOD("LLMToolSelectorOptionsSchema") }],
  toolEmulatorMiddleware: ["toolEmulator", { "": "interface ToolEmulatorOptions {" }],
  contextEditingMiddleware: [
    "contextEditing",
    {
      "": "interface ContextEditingMiddlewareConfig {",
      "edits.": "interface ClearToolUsesEditConfig {",
    },
  ],
  dynamicSystemPromptMiddleware: [
    "dynamicSystemPrompt",
    { "": "declare function dynamicSystemPromptMiddleware<" },
  ],
  providerToolSearchMiddleware: ["providerToolSearch", { "": "type ProviderToolSearchMiddlewareConfig = {" }],
  openAIModerationMiddleware: [
    "provider/openai/moderation",
    { "": "interface OpenAIModerationMiddlewareOptions {" },
  ],
  anthropicPromptCachingMiddleware: ["provider/anthropic/promptCaching", { "": ZOD("contextSchema") }],
  bedrockPromptCachingMiddleware: ["provider/aws/promptCaching", { "": ZOD("contextSchema") }],
};

function EFFECTS(name) {
  return `declare const ${name}: z.ZodEffects<z.ZodObject<{`;
}

/** @returns {string[]} the names of the middleware that langchain exports */
export function middlewareNames(root) {
  const index = readFileSync(join(root, FOLDER, "index.d.ts"), "utf8");
  const exported = index.slice(index.lastIndexOf("export {"));
  return [...exported.matchAll(/\b([a-z]\w*Middleware)\b/g)].map(([, name]) => name);
}

/** @returns {string[]} `middleware.option`, and `middleware.option: value` for each value that is a word */
export function featuresOf(root) {
  return middlewareNames(root).flatMap((middleware) => {
    const source = SOURCES[middleware];
    if (!source)
      throw new Error(`scripts/features/options.mjs does not know where ${middleware} has its options`);
    const [file, blocks] = source;
    const text = withoutComments(readFileSync(join(root, FOLDER, `${file}.d.ts`), "utf8"));
    const features = Object.entries(blocks).flatMap(([prefix, beginning]) =>
      beginning.startsWith("declare function")
        ? [`${middleware}.${firstParameter(text, beginning)}`]
        : options(text, beginning).flatMap(({ name, type }) => {
            const feature = `${middleware}.${prefix.trim()}${name}`;
            return [feature, ...values(type, text).map((value) => `${feature}: ${value}`)];
          }),
    );
    return [...new Set(features)];
  });
}

const withoutComments = (text) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

function firstParameter(text, beginning) {
  const from = text.indexOf("(", text.indexOf(beginning));
  return /\(\s*(?:\.\.\.)?(\w+)/.exec(text.slice(from))[1];
}

/** The properties of a block, and of the blocks that are joined to it with `&`. */
function options(text, beginning) {
  const from = text.indexOf(beginning);
  if (from < 0) throw new Error(`the types have no '${beginning}' any more`);
  const found = [];
  let at = from + beginning.length;
  for (;;) {
    const end = closing(text, at);
    found.push(...properties(text.slice(at, end)));
    const joined = /^\s*&\s*\{/.exec(text.slice(end + 1));
    if (!joined) return found;
    at = end + 1 + joined[0].length;
  }
}

/** The place of the bracket that closes what was open at `at`. */
function closing(text, at) {
  let depth = 1;
  for (let i = at; i < text.length; i++) {
    if ("{[(".includes(text[i])) depth++;
    else if ("}])".includes(text[i]) && --depth === 0) return i;
  }
  throw new Error("a bracket is not closed");
}

function properties(block) {
  const found = [];
  for (let i = 0; i < block.length; ) {
    const match = /^\s*(\w+)\??:/.exec(block.slice(i));
    if (!match) break;
    const start = i + match[0].length;
    let end = start;
    for (; end < block.length && block[end] !== ";"; end++) {
      if ("{[(".includes(block[end])) end = closing(block, end + 1);
    }
    found.push({ name: match[1], type: block.slice(start, end) });
    i = end + 1;
  }
  return found;
}

/** Words that a type allows, also by the names of other types in the file. Not those of objects within. */
function values(type, text) {
  const flat = type.replace(/ZodObject<\{[\s\S]*/, "");
  const alias = /^\s*(\w+)\s*(?:\||$)/.exec(flat)?.[1];
  const named = alias ? (new RegExp(`^type ${alias} = (.*);`, "m").exec(text)?.[1] ?? "") : "";
  const words = [...`${flat} ${named}`.replace(/, "many"/g, "").matchAll(/"([\w-]+)"/g)];
  return [...new Set(words.map(([, word]) => word))];
}
