import { writeFileSync } from "node:fs";
import { messageSchemaText } from "./message-schema.js";

/** Writes docs/messages.schema.json of the repository that this build stands in. */
writeFileSync(new URL("../../../docs/messages.schema.json", import.meta.url), messageSchemaText());
