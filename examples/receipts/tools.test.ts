import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunnableConfig } from "@langchain/core/runnables";
import { afterEach, describe, expect, it, vi } from "vitest";
import { inBookCurrency } from "./book-currency.js";
import { lookupVendor, MOST_FAILURES, tryFails } from "./lookup-vendor.js";
import { postExpense, postingIdOf } from "./post-expense.js";

/** A call as LangChain's agents make it: the call's id is in the config too. */
const invoke = (
  tool: typeof lookupVendor | typeof postExpense,
  args: Record<string, unknown>,
  { id = "c1", ...config }: { id?: string; context?: object; configurable?: object } = {},
) =>
  (tool as typeof lookupVendor).invoke({ type: "tool_call", id, name: tool.name, args: args as never }, {
    ...config,
    toolCallId: id,
  } as RunnableConfig);

const seeds = Array.from({ length: 1000 }, (_, seed) => seed);
const COMPANY = "Blue Heron Stationery Sdn Bhd";
const content = (message: unknown) => JSON.parse((message as { content: string }).content) as unknown;

describe("lookup_vendor", () => {
  it("finds a registered vendor however its name is printed, and says when there is none", async () => {
    const seed = seeds.find(
      (n) => !tryFails(n, "Nobody Ltd", 0) && !tryFails(n, "BLUE HERON STATIONERY SDN. BHD.", 0),
    );
    const lookup = (company: string) => invoke(lookupVendor, { company }, { context: { seed } });
    expect(content(await lookup("BLUE HERON STATIONERY SDN. BHD."))).toEqual({
      vendorId: "V-1001",
      registered: true,
    });
    expect(content(await lookup("Nobody Ltd"))).toEqual({ vendorId: null, registered: false });
  });

  it("fails by seed, company and try: always the same, now and then, never more often than the policy retries", () => {
    const failures = seeds.map((seed) => tryFails(seed, COMPANY, 0));
    expect(failures).toEqual(seeds.map((seed) => tryFails(seed, COMPANY, 0)));
    const share = failures.filter(Boolean).length / failures.length;
    expect(share).toBeGreaterThan(0.09);
    expect(share).toBeLessThan(0.16);
    expect(seeds.some((seed) => tryFails(seed, COMPANY, MOST_FAILURES))).toBe(false);
  });

  it("throws a transient error and succeeds when the call is tried again", async () => {
    const seed = seeds.find((n) => tryFails(n, COMPANY, 0) && !tryFails(n, COMPANY, 1));
    const lookup = () => invoke(lookupVendor, { company: COMPANY }, { id: "failing", context: { seed } });
    await expect(lookup()).rejects.toMatchObject({ name: "RegisterUnavailable", status: 503 });
    expect(content(await lookup())).toEqual({ vendorId: "V-1001", registered: true });
    await expect(lookup()).rejects.toThrow("The vendor register is busy. Try again.");
  });
});

describe("post_expense", () => {
  afterEach(() => vi.unstubAllEnvs());
  const expense = { company: COMPANY, date: "2026-02-03", amount: 42.8, currency: "MYR", vendorId: "V-1001" };

  it("gives the same expense the same number, and another one another", async () => {
    vi.stubEnv("DROVER_RECEIPTS_LEDGER", "");
    const answer = await invoke(postExpense, expense);
    expect(content(answer)).toEqual({ postingId: postingIdOf(expense) });
    expect(postingIdOf({ ...expense, amount: 42.9 })).not.toBe(postingIdOf(expense));
  });

  it("appends one line to the ledger", async () => {
    const folder = await mkdtemp(join(tmpdir(), "drover-ledger-"));
    const ledger = join(folder, "ledger.jsonl");
    vi.stubEnv("DROVER_RECEIPTS_LEDGER", ledger);
    await invoke(postExpense, expense, { configurable: { thread_id: "t1" } });
    await invoke(postExpense, { ...expense, amount: 1 }, { id: "c2" });
    const lines = (await readFile(ledger, "utf8")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { postingId: postingIdOf(expense), amount: 42.8, threadId: "t1", toolCallId: "c1" },
      { amount: 1, toolCallId: "c2" },
    ]);
    await rm(folder, { recursive: true });
  });
});

it("compares amounts of all currencies in the book's own", () => {
  expect(inBookCurrency(185_000, "IDR")).toBeLessThan(500);
  expect(inBookCurrency(200, "USD")).toBeGreaterThan(500);
  expect(inBookCurrency(12, null)).toBe(12);
  expect(inBookCurrency(12, "XXX")).toBe(12);
});
