import { isDeepStrictEqual } from "node:util";
import { type RedisCluster, type RedisServer, startCluster, startRedis } from "@drover/embedded";
import { InMemoryStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect } from "../connect.js";
import { createKeys } from "../keys.js";
import { encodeNamespace } from "./layout.js";
import { RedisStore } from "./redis-store.js";

/** DROVER_SEED repeats a run. */
const seed = Number(process.env.DROVER_SEED ?? Date.now() % 2 ** 31);
let server: RedisServer;
let cluster: RedisCluster;

beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis(), startCluster()]);
});
afterAll(() => Promise.all([server.stop(), cluster.stop()]));

/**
 * InMemoryStore as the model. It gives out its own objects, which later puts change, so they are copied before those.
 * Its namespaces stay listed when they are empty, and its orders are those of a Map and of a locale; here both are
 * by encoded namespace, so that pages can be compared.
 */
class Model extends InMemoryStore {
  override async batch<Op extends readonly Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const reads = operations.filter((op) => !("value" in op));
    const all = reads.map((op) => ("limit" in op ? { ...op, limit: 1e9, offset: 0 } : op));
    const found: unknown[] = structuredClone(await super.batch(all));
    await super.batch(operations.filter((op) => "value" in op));
    const data: Map<string, Map<string, unknown>> = Reflect.get(this, "data");
    for (const [namespace, items] of data) if (items.size === 0) data.delete(namespace);
    const results = operations.map((op) => ("value" in op ? null : pageOf(op, found[reads.indexOf(op)])));
    return results as OperationResults<Op>;
  }
}

function pageOf(op: Operation, result: unknown): unknown {
  if (!Array.isArray(result) || !("limit" in op)) return result;
  const encoded = (one: string[] | { namespace: string[] }) =>
    encodeNamespace(Array.isArray(one) ? one : one.namespace);
  const { offset = 0, limit = 10 } = op;
  return result
    .map((one) => [encoded(one), one] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .slice(offset, offset + limit)
    .map(([, one]) => one);
}

/** Without the times, which two stores cannot share. */
const timeless = (results: unknown): unknown[] =>
  JSON.parse(
    JSON.stringify(results, (name, value) =>
      /^(createdAt|updatedAt|score)$/.test(name) ? undefined : value,
    ),
  );

/** A few names are frequent, so that operations meet; the rest tries to break out of its place. */
const often = <T>(frequent: T[], rare: T[]) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...frequent) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );
const label = often(["a", "ab"], ["b", "*", "é", "a/b", "a%2Fb", " ", "{x}", "langgraph", "\n"]);
const namespace = fc.array(label, { minLength: 1, maxLength: 3 });
const key = often(["k", "l"], ["k k", "", "/", "é", "\0", "{x}", "__proto__"]);
const plain = fc.constantFrom(1, 2, 10, "1", "x", "", true, false, null);
const field = fc.constantFrom("n", "m", "__proto__", "toString");
const value = fc.dictionary(field, fc.oneof(plain, fc.array(plain, { maxLength: 2 })), { maxKeys: 3 });
const operator = fc.constantFrom("$eq", "$ne", "$gt", "$gte", "$lt", "$lte");
const condition = fc.oneof(
  plain,
  fc.dictionary(operator, plain, { maxKeys: 2 }),
  fc.dictionary(fc.constantFrom("$in", "$nin"), fc.array(plain, { maxLength: 3 }), { maxKeys: 2 }),
);
const filter = fc.dictionary(fc.constantFrom("n", "m"), condition, { maxKeys: 2 });
const page = { limit: fc.nat({ max: 6 }), offset: fc.nat({ max: 4 }) };
const path = fc.array(fc.oneof(label, fc.constant("*")), { maxLength: 2 });
const match = fc.record({ matchType: fc.constantFrom("prefix" as const, "suffix" as const), path });

const put: fc.Arbitrary<Operation> = fc.record({ namespace, key, value });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 2, arbitrary: put },
  { weight: 1, arbitrary: fc.record({ namespace, key, value: fc.constant(null) }) },
  { weight: 2, arbitrary: fc.record({ namespace, key }) },
  {
    weight: 3,
    arbitrary: fc
      .record({ namespacePrefix: fc.oneof(fc.constant([]), namespace), filter: fc.option(filter), ...page })
      .map(({ filter, ...op }) => (filter === null ? op : { ...op, filter })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        matchConditions: fc.array(match, { maxLength: 2 }),
        maxDepth: fc.option(fc.integer({ min: 1, max: 3 })),
        ...page,
      })
      .map(({ maxDepth, ...op }) => ({ ...op, maxDepth: maxDepth ?? undefined }) as Operation),
  },
);

const batches = fc
  .tuple(
    fc.array(put, { minLength: 10, maxLength: 25 }),
    fc.array(fc.array(operation, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 12 }),
  )
  .map(([first, others]) => [first, ...others]);

it.each(["single", "cluster"])(
  `answers as InMemoryStore on %s, over random batches (seed ${seed})`,
  async (where) => {
    console.log(`memory property seed: ${seed}`);
    const url = where === "single" ? server.url : cluster.urls.join(",");
    const redis = connect({ url, role: "worker" });
    let stores = 0;
    let compared = 0;
    let found = 0;
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        stores += 1;
        const store = new RedisStore({ redis, keys: createKeys(), tenant: `tenant ${stores}` });
        const model = new Model();
        for (const operations of all) {
          compared += operations.length;
          const results = timeless(await store.batch(operations));
          expect(results).toEqual(timeless(await model.batch(operations)));
          found += results.filter((one) => one !== null && !isDeepStrictEqual(one, [])).length;
        }
      }),
      { seed, numRuns: 50, interruptAfterTimeLimit: 5_000, markInterruptAsFailure: false },
    );
    redis.disconnect();
    console.log(`${where}: ${stores} stores, ${compared} operations compared, ${found} found something`);
    expect(found).toBeGreaterThan(20);
  },
);
