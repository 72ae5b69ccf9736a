import { DroverError } from "@drover/contracts";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { createLabelBounds, OTHER } from "./label-bounds.js";
import type { MetricSpec } from "./metric-spec.js";
import { type LabelsOf, METRICS, type MetricName, type NameOf } from "./metrics-table.js";

/** Records the metrics of METRICS; names, labels and their fixed values are checked by the compiler. */
export interface Metrics {
  /** Adds to a counter, 1 by default. Adds nothing for a number below 0, an infinite one or NaN: providers send such. */
  inc<N extends NameOf<"counter">>(name: N, labels: LabelsOf<N>, by?: number): void;
  /** Records one observation in a histogram. Records nothing for NaN and infinities. */
  observe<N extends NameOf<"histogram">>(name: N, labels: LabelsOf<N>, value: number): void;
  /** Exports a histogram as empty: to Prometheus one that appears with its first observation has not grown. */
  zero<N extends NameOf<"histogram">>(name: N, labels: LabelsOf<N>): void;
  /** Sets a gauge. A gauge that was never set is not exported. */
  set<N extends NameOf<"gauge">>(name: N, labels: LabelsOf<N>, value: number): void;
  /** Exports these gauges no more, until they are set again. */
  unset(names: readonly NameOf<"gauge">[]): void;
  /** Everything in Prometheus's text format. */
  render(): Promise<string>;
  /** The content type of what `render` gives. */
  readonly contentType: string;
}

export interface MetricsOptions {
  /** Added to every series, for example `{ worker: "w1" }`. Must not be named like a label of the table. */
  defaultLabels?: Readonly<Record<string, string>>;
  /** How many distinct values an open label may have before the rest becomes `other`. Default 200. */
  maxLabelValues?: number;
  /** Exported as drover_build_info together with Node's version, if given. */
  version?: string;
}

/** Metrics with a registry of their own: two in one process do not touch each other. Throws INVALID_CONFIG. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const most = options.maxLabelValues ?? 200;
  if (!Number.isInteger(most) || most < 1) {
    throw new DroverError("INVALID_CONFIG", `maxLabelValues is ${most}; give a whole number from 1.`);
  }
  const registry = new Registry();
  registry.setDefaultLabels(checkedDefaults(options.defaultLabels ?? {}));
  const bound = createLabelBounds(most);
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();

  for (const [name, spec] of specs) {
    const shape = { name, help: spec.help, labelNames: [...spec.labels], registers: [registry] };
    if (spec.type === "counter") counters.set(name, new Counter(shape));
    else if (spec.type === "histogram") {
      histograms.set(name, new Histogram({ ...shape, buckets: [...(spec.buckets ?? [])] }));
    } else {
      const gauge = new Gauge(shape);
      // A gauge without labels starts as 0, which would be a claim: here it starts as absent.
      if (spec.labels.length === 0) gauge.remove();
      gauges.set(name, gauge);
    }
  }

  function boundLabels(name: MetricName, labels: Readonly<Record<string, string>>): Record<string, string> {
    const spec = specOf(name);
    return Object.fromEntries(
      spec.labels.map((label) => {
        const value = labels[label] ?? OTHER;
        const fixed = spec.values?.[label];
        if (fixed) return [label, fixed.includes(value) ? value : OTHER];
        return [label, bound(label, value)];
      }),
    );
  }

  const metrics: Metrics = {
    inc(name, labels, by = 1) {
      if (Number.isFinite(by) && by >= 0) counters.get(name)?.inc(boundLabels(name, labels), by);
    },
    observe(name, labels, value) {
      if (Number.isFinite(value)) histograms.get(name)?.observe(boundLabels(name, labels), value);
    },
    zero(name, labels) {
      histograms.get(name)?.zero(boundLabels(name, labels));
    },
    set(name, labels, value) {
      gauges.get(name)?.set(boundLabels(name, labels), value);
    },
    unset(names) {
      for (const name of names) {
        const gauge = gauges.get(name);
        gauge?.reset();
        if (specOf(name).labels.length === 0) gauge?.remove();
      }
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
  if (options.version !== undefined) {
    metrics.set("drover_build_info", { version: options.version, node: process.version }, 1);
  }
  return metrics;
}

const specOf = (name: MetricName): MetricSpec => METRICS[name];
const specs: readonly [string, MetricSpec][] = Object.entries(METRICS);

function checkedDefaults(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const taken = new Set(specs.flatMap(([, spec]) => spec.labels));
  for (const label of Object.keys(labels)) {
    if (taken.has(label) || !/^[a-z][a-z0-9_]*$/.test(label)) {
      throw new DroverError(
        "INVALID_CONFIG",
        `The default label '${label}' can't be used: give a lower-case name that no metric has as a label.`,
      );
    }
  }
  return labels;
}
