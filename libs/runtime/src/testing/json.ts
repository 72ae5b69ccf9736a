import type { ProviderReply, ProviderRequest } from "./reply.js";

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function recordsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The text in a message's content, whichever shape the format gives it. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return recordsOf(content)
    .map((part) => (typeof part.text === "string" ? part.text : textOf(part.content ?? part.output ?? "")))
    .join("");
}

export function frame(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Pieces of at most `size` characters; a character is never split. */
export function pieces(text: string, size = 8): string[] {
  const characters = Array.from(text);
  const parts: string[] = [];
  for (let start = 0; start < characters.length; start += size) {
    parts.push(characters.slice(start, start + size).join(""));
  }
  return parts;
}

export function toolCallsOf(
  reply: ProviderReply,
  request: ProviderRequest,
): { id: string; name: string; args: string }[] {
  return (reply.toolCalls ?? []).map((call, position) => ({
    id: call.id ?? `call_${request.number}_${position}`,
    name: call.name,
    args: typeof call.args === "string" ? call.args : JSON.stringify(call.args),
  }));
}

export function usageOf(reply: ProviderReply): {
  input: number;
  output: number;
  cached: number;
  reasoning: number;
} {
  return { input: 10, output: 5, cached: 0, reasoning: 0, ...reply.usage };
}
