import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const lib = (name: string) => fileURLToPath(new URL(`./libs/${name}/src/index.ts`, import.meta.url));

/** Tests run the sources; processes that tests start run the build. `npm test` builds before it runs them. */
export default defineConfig({
  resolve: {
    alias: Object.fromEntries(
      [
        "contracts",
        "telemetry",
        "redaction",
        "documents",
        "embedded",
        "state",
        "queue",
        "runtime",
        "chaos",
      ].map((name) => [`@drover/${name}`, lib(name)]),
    ),
  },
  test: {
    include: ["{libs,apps,examples,scripts}/**/*.test.{ts,mjs}"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
