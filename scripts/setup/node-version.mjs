import { SetupError } from "./system.mjs";

const NEEDED = [20, 19];

/** Throws SetupError when this Node is older than Drover's packages run on. */
export function checkNodeVersion(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return;
  throw new SetupError(
    `Drover needs Node ${NEEDED.join(".")} or later; this is ${version}. ` +
      "Install a newer one (https://nodejs.org, or: nvm install 22) and try again.",
  );
}
