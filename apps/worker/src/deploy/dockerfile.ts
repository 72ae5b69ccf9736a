/** One instruction of a Dockerfile, its lines joined. */
export interface Instruction {
  name: string;
  args: string;
}

/** The stages of a Dockerfile, in order; each begins with its FROM. */
export function stagesOf(text: string): Instruction[][] {
  const lines = text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = "", args = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === "FROM") stages.push([]);
    stages.at(-1)?.push({ name, args });
  }
  return stages;
}
