/** `npm start [-- --once] [-- --yes]`: from a fresh clone to two workers with the sample documents done. */
import { becomeCli } from "./cli.mjs";
import { root, setupOrExit } from "./setup.mjs";

const args = process.argv.slice(2);
await setupOrExit({ yes: args.includes("--yes") });
process.chdir(root);
await becomeCli([
  ...["dev", "--workers", "2", "--batch", "receipts", "examples/receipts/documents"],
  ...args.filter((arg) => arg !== "--yes"),
]);
