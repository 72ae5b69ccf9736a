/** `npm run drover -- <command>`: the command line, set up first where something is missing or changed. */
import { becomeCli } from "./cli.mjs";
import { setupOrExit } from "./setup.mjs";

const args = process.argv.slice(2);
const onlyHelp =
  args.length === 0 || ["help", "--help", "-h", "--version", "-V"].some((word) => args.includes(word));
await setupOrExit({ redis: !onlyHelp });
// npm runs scripts in the project's folder; the paths that a user types are meant from where they typed them.
if (process.env.npm_lifecycle_event === "drover" && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
await becomeCli(args);
