import { writeFileSync } from "node:fs";
import { envExample } from "./env-example.js";

/** Writes infra/.env.example of the repository that this build stands in. */
writeFileSync(new URL("../../../../infra/.env.example", import.meta.url), envExample());
