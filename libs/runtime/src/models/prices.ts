import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DroverError, parseOrThrow } from "@drover/contracts";
import { z } from "zod";
import type { Tokens } from "./usage.js";

const PRICES_FILE = fileURLToPath(new URL("../../prices.json", import.meta.url));

const dollarsPerMillion = z.number().min(0);

const pricesSchema = z.strictObject({
  note: z.string().optional(),
  /** The day on which the prices were right. */
  asOf: z.iso.date(),
  /** By `provider:model`; dollars for a million tokens. */
  models: z
    .record(
      z.string(),
      z.strictObject({
        input: dollarsPerMillion,
        output: dollarsPerMillion,
        /** Input that the provider read from its cache. Default: as `input`. */
        cachedInput: dollarsPerMillion.optional(),
        /** Input that the provider wrote into its cache. Default: as `input`. */
        cacheWrite: dollarsPerMillion.optional(),
      }),
    )
    .refine(
      (models) => Object.keys(models).every((name) => name.includes(":")),
      "names must be provider:model",
    ),
});

export type Prices = z.output<typeof pricesSchema>;

/**
 * Reads a price list.
 * @param file default: Drover's own example, libs/runtime/prices.json
 * @throws DroverError INVALID_CONFIG that names the file and the wrong place in it
 */
export function loadPrices(file: string = PRICES_FILE): Prices {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new DroverError("INVALID_CONFIG", `The price list ${file} is not there or is not JSON.`, { cause });
  }
  return parseOrThrow(pricesSchema, content, `The price list ${file}`, "INVALID_CONFIG");
}

/**
 * Dollars for these tokens, or null if the list has no price for the model. A dated name (`gpt-4o-2024-08-06`,
 * `claude-sonnet-4-5-20250929`) has the price of the undated one unless it is listed itself. Offline models cost 0.
 *
 * @param model `provider:model`
 */
export function costOf(model: string, tokens: Tokens, prices: Prices): number | null {
  if (model.startsWith("offline:")) return 0;
  const undated = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  const price = Object.hasOwn(prices.models, model) ? prices.models[model] : prices.models[undated];
  if (price === undefined) return null;
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = tokens;
  const fresh = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
  const sum =
    fresh * price.input +
    cachedTokens * (price.cachedInput ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return sum / 1_000_000;
}
