import { writeFileSync } from "node:fs";
import { messageSchemaText } from "./message-schema.js";
import { noticeSchemaText } from "./notice-schema.js";

/** Writes the schemas of messages and notices into docs of the repository that this build stands in. */
writeFileSync(new URL("../../../docs/messages.schema.json", import.meta.url), messageSchemaText());
writeFileSync(new URL("../../../docs/notices.schema.json", import.meta.url), noticeSchemaText());
