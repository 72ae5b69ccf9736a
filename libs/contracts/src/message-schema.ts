import { z } from "zod";
import { messageSchema, signedMessageSchema } from "./message.js";

/** The shapes of what other services put on the inbox, as JSON Schema: docs/messages.schema.json. */
export function messageJsonSchema(): Record<string, unknown> {
  const { $schema, ...message } = z.toJSONSchema(messageSchema, { io: "input" });
  const { $schema: _, ...signed } = z.toJSONSchema(signedMessageSchema, { io: "input" });
  return {
    $schema,
    title: "A message to Drover's inbox, version 1",
    anyOf: [{ $ref: "#/$defs/message" }, { $ref: "#/$defs/signed" }],
    $defs: { message, signed },
  };
}

/** The file's text. */
export const messageSchemaText = (): string => `${JSON.stringify(messageJsonSchema(), null, 2)}\n`;
