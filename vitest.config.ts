import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const libs = fileURLToPath(new URL("./libs", import.meta.url));

/** 626 real receipts with their true fields, beside a checkout where somebody has them; they are not part of it. */
const receipts = fileURLToPath(new URL("../shared/data/receipts", import.meta.url));

/** Tests run the sources; processes that tests start run the build. `npm test` builds before it runs them. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@drover\/(state)\/(\w+)$/, replacement: `${libs}/$1/src/$2/index.ts` },
      {
        find: /^@drover\/(contracts|telemetry|redaction|documents|embedded|state|queue|runtime|chaos)$/,
        replacement: `${libs}/$1/src/index.ts`,
      },
    ],
  },
  test: {
    include: ["{libs,apps,examples,scripts}/**/*.test.{ts,mjs}"],
    exclude: ["**/node_modules/**", "**/dist/**", ...(existsSync(receipts) ? [] : ["**/*.receipts.test.ts"])],
    // On a machine of CI, with processes that others share: once more. The output marks who needed it.
    retry: process.env.CI === "true" ? 1 : 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // The files of a worker share their modules: LangChain takes over a second to load. No test replaces a module.
    isolate: false,
  },
});
