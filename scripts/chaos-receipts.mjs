/** The receipts agent of the examples, as the harness is told of it: a receipt that a person must approve. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

export function receiptsAgent() {
  const folder = mkdtempSync(join(tmpdir(), "drover-receipts-"));
  const ledger = join(folder, "ledger.jsonl");
  writeFileSync(ledger, "");
  const receipt = readFileSync(join(root, "examples/receipts/documents/06-laptop.md"), "utf8");
  const agent = {
    name: "receipts",
    questions: 1,
    mayNotKnow: true,
    env: { DROVER_RECEIPTS_LEDGER: ledger },
    input: () => receipt,
    effectsOf: (run) =>
      readFileSync(ledger, "utf8")
        .split("\n")
        .filter((line) => line !== "" && JSON.parse(line).threadId === run).length,
  };
  return { agent, root, close: () => rmSync(folder, { recursive: true, force: true }) };
}
