import { describe, expect, it } from "vitest";
import { watchEventLoop } from "./event-loop.js";
import type { MetricSpec } from "./metric-spec.js";
import { createMetrics } from "./metrics.js";
import { METRICS } from "./metrics-table.js";

const specs: [string, MetricSpec][] = Object.entries(METRICS);

async function series(metrics: { render(): Promise<string> }, name: string): Promise<string[]> {
  const text = await metrics.render();
  return text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

describe("the table", () => {
  it.each(specs)("%s keeps the rules of names", (name, spec) => {
    expect(name).toMatch(/^drover_[a-z0-9_]+$/);
    expect(name.endsWith("_total")).toBe(spec.type === "counter");
    if (spec.unit === "seconds") expect(name).toMatch(/_seconds$/);
    if (spec.type === "histogram") {
      expect(spec.buckets).toEqual([...(spec.buckets ?? [])].sort((a, b) => a - b));
      expect(spec.buckets?.length).toBeGreaterThan(5);
    }
    for (const label of Object.keys(spec.values ?? {})) expect(spec.labels).toContain(label);
    for (const label of spec.labels) expect(label).not.toMatch(/run|thread|user|call/);
    expect(spec.help).toMatch(/\.$/);
  });
});

describe("createMetrics", () => {
  it("counts, observes and sets", async () => {
    const metrics = createMetrics();
    metrics.inc("drover_runs_total", { agent: "clerk", outcome: "success" });
    metrics.inc("drover_runs_total", { agent: "clerk", outcome: "success" }, 2);
    metrics.observe("drover_queue_wait_seconds", { agent: "clerk" }, 0.3);
    metrics.set("drover_worker_slots", {}, 20);
    expect(await series(metrics, "drover_runs_total")).toEqual([
      'drover_runs_total{agent="clerk",outcome="success"} 3',
    ]);
    expect(await series(metrics, "drover_queue_wait_seconds_bucket")).toContain(
      'drover_queue_wait_seconds_bucket{le="0.5",agent="clerk"} 1',
    );
    expect(await series(metrics, "drover_queue_wait_seconds_sum")).toEqual([
      'drover_queue_wait_seconds_sum{agent="clerk"} 0.3',
    ]);
    expect(await series(metrics, "drover_worker_slots")).toEqual(["drover_worker_slots 20"]);
  });

  it("exports every metric of the table with its type", async () => {
    const text = await createMetrics().render();
    for (const [name, spec] of specs) expect(text).toContain(`# TYPE ${name} ${spec.type}\n`);
  });

  it("lets the compiler refuse what the table does not have", () => {
    const metrics = createMetrics();
    // @ts-expect-error no such metric
    metrics.inc("drover_nothing_total", {});
    // @ts-expect-error a label is missing
    metrics.inc("drover_runs_total", { agent: "clerk" });
    // @ts-expect-error not one of the outcomes
    metrics.inc("drover_runs_total", { agent: "clerk", outcome: "great" });
    // @ts-expect-error a gauge is not counted up
    metrics.inc("drover_worker_slots", {});
  });

  it("starts counters without labels at 0, and exports no gauge that was never set", async () => {
    const metrics = createMetrics();
    expect(await series(metrics, "drover_leases_lost_total")).toEqual(["drover_leases_lost_total 0"]);
    expect(await series(metrics, "drover_interrupts_pending")).toEqual([]);
    metrics.set("drover_interrupts_pending", {}, 0);
    expect(await series(metrics, "drover_interrupts_pending")).toEqual(["drover_interrupts_pending 0"]);
  });

  it("ignores numbers that are none, as providers send them", async () => {
    const metrics = createMetrics();
    for (const odd of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      metrics.inc("drover_leases_lost_total", {}, odd);
      if (odd !== -1) metrics.observe("drover_queue_wait_seconds", { agent: "clerk" }, odd);
    }
    expect(await series(metrics, "drover_leases_lost_total")).toEqual(["drover_leases_lost_total 0"]);
    expect(await series(metrics, "drover_queue_wait_seconds_count")).toEqual([]);
  });

  it("has a registry of its own, default labels and build info", async () => {
    const one = createMetrics({ defaultLabels: { worker: "w1" }, version: "1.2.3" });
    createMetrics().inc("drover_leases_lost_total", {});
    expect(await series(one, "drover_leases_lost_total")).toEqual([
      'drover_leases_lost_total{worker="w1"} 0',
    ]);
    expect(await series(one, "drover_build_info")).toEqual([
      `drover_build_info{version="1.2.3",node="${process.version}",worker="w1"} 1`,
    ]);
    expect(one.contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  it("refuses default labels that hide others, and a bound below 1", () => {
    expect(() => createMetrics({ defaultLabels: { agent: "x" } })).toThrow(
      "default label 'agent' can't be used",
    );
    expect(() => createMetrics({ maxLabelValues: 0 })).toThrow("maxLabelValues is 0");
  });
});

describe("labels", () => {
  it("are bounded: a flood of names adds one series", async () => {
    const metrics = createMetrics({ maxLabelValues: 3 });
    metrics.inc("drover_interrupts_raised_total", { agent: "clerk" });
    for (let i = 0; i < 1000; i += 1) metrics.inc("drover_interrupts_raised_total", { agent: `a${i}` });
    metrics.inc("drover_interrupts_raised_total", { agent: "clerk" });
    expect(await series(metrics, "drover_interrupts_raised_total")).toEqual([
      'drover_interrupts_raised_total{agent="clerk"} 2',
      'drover_interrupts_raised_total{agent="a0"} 1',
      'drover_interrupts_raised_total{agent="a1"} 1',
      'drover_interrupts_raised_total{agent="other"} 998',
    ]);
  });

  it("hold 200 values by default, the same in every metric", async () => {
    const metrics = createMetrics();
    for (let i = 0; i < 300; i += 1) metrics.inc("drover_interrupts_raised_total", { agent: `a${i}` });
    metrics.inc("drover_effects_unknown_total", { agent: "a199", tool: "t" });
    metrics.inc("drover_effects_unknown_total", { agent: "a200", tool: "t" });
    expect(await series(metrics, "drover_interrupts_raised_total")).toHaveLength(201);
    expect(await series(metrics, "drover_effects_unknown_total")).toEqual([
      'drover_effects_unknown_total{agent="a199",tool="t"} 1',
      'drover_effects_unknown_total{agent="other",tool="t"} 1',
    ]);
  });

  it("hold names, never sentences or addresses", async () => {
    const metrics = createMetrics();
    const names = [
      "openai:gpt-4.1",
      "meta-llama/Llama-3",
      "claude@20240229",
      "joe@example.com",
      "a b",
      "",
      "x".repeat(200),
    ];
    for (const model of names) metrics.inc("drover_model_unpriced_calls_total", { model, provider: "p" });
    const labels = (await series(metrics, "drover_model_unpriced_calls_total")).map(
      (line) => /model="([^"]*)"/.exec(line)?.[1],
    );
    expect(labels).toEqual(["openai:gpt-4.1", "meta-llama/Llama-3", "claude@20240229", "other"]);
  });

  it("with fixed values become `other` for any further one", async () => {
    const metrics = createMetrics();
    const odd: string = "great";
    metrics.inc("drover_runs_total", { agent: "clerk", outcome: odd as "success" });
    expect(await series(metrics, "drover_runs_total")).toEqual([
      'drover_runs_total{agent="clerk",outcome="other"} 1',
    ]);
  });
});

describe("watchEventLoop", () => {
  it("records how long the process was blocked, by the share of time", async () => {
    const metrics = createMetrics();
    const long: number[] = [];
    const stop = watchEventLoop(metrics, (ms) => long.push(ms));
    const end = performance.now() + 450;
    while (performance.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 20));
    stop();
    const buckets = await series(metrics, "drover_event_loop_lag_seconds_bucket");
    const upTo = (bound: string) =>
      Number(buckets.find((line) => line.includes(`le="${bound}"`))?.split(" ")[1]);
    expect(upTo("+Inf")).toBeGreaterThanOrEqual(4);
    expect(upTo("0.25")).toBeLessThan(upTo("+Inf"));
    expect(upTo("0.025")).toBeLessThan(4);
    expect(long).toEqual([]);
  });

  it("tells of a stop of a second before what waited for its end goes on", async () => {
    const seen: string[] = [];
    const stop = watchEventLoop(createMetrics(), (ms) => seen.push(ms > 900 ? "blocked" : "soon"));
    await new Promise((resolve) => setTimeout(resolve, 10));
    const after = new Promise((resolve) => setTimeout(resolve, 200)).then(() => seen.push("goes on"));
    for (const end = performance.now() + 1200; performance.now() < end; );
    await after;
    stop();
    expect(seen).toEqual(["blocked", "goes on"]);
  });
});
