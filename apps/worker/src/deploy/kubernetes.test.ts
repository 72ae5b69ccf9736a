import { describe, expect, it } from "vitest";
import { METRICS } from "../../../../libs/telemetry/src/metrics-table.js";
import { readConfig, workerSettings } from "../config.js";
import { type Manifest, render, unknownKeys } from "./manifest.js";

interface Container {
  name: string;
  image: string;
  ports?: { name: string; containerPort: number }[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string } } }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: Record<string, unknown>;
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
}
interface Probe {
  httpGet?: { path: string; port: string };
  tcpSocket?: { port: string };
  periodSeconds: number;
  failureThreshold?: number;
}
interface Pods {
  selector: { matchLabels: Record<string, string> };
  template: {
    metadata: { labels: Record<string, string> };
    spec: {
      terminationGracePeriodSeconds: number;
      securityContext: Record<string, unknown>;
      automountServiceAccountToken: boolean;
      topologySpreadConstraints?: {
        topologyKey: string;
        labelSelector: { matchLabels: Record<string, string> };
      }[];
      containers: Container[];
    };
  };
}

/** Secrets that the overlays' heads tell to make. */
const SECRETS = ["drover-keys", "drover-redis", "drover-redis-ca"];
/** Milliseconds that a worker takes to leave once it has drained: worker.ts. */
const LEAVE_MS = 5000;

const of = (all: Manifest[], kind: string) => all.filter((one) => one.kind === kind);
const spec = <T>(manifest: Manifest | undefined): T => manifest?.spec as T;
const fits = (selector: Record<string, string>, labels: Record<string, string> = {}) =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

describe.each(["overlays/dev", "overlays/prod"])("k8s/%s", (folder) => {
  const all = render(folder);
  const workloads = all.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
  const worker = spec<Pods>(of(all, "Deployment").find(({ metadata }) => metadata.name === "drover-worker"));
  const [container] = worker.template.spec.containers as [Container];
  const settings = of(all, "ConfigMap").find(({ metadata }) => metadata.name === "drover-worker")
    ?.data as Record<string, string>;
  const pods = workloads.map((one) => spec<Pods>(one));

  it.each(all)("$kind $metadata.name is what its schema says, to the last key", (manifest) => {
    expect(unknownKeys(manifest)).toEqual([]);
  });

  it("puts everything into one namespace, each thing once", () => {
    expect(new Set(all.map(({ metadata }) => metadata.namespace)).size).toBe(1);
    expect(new Set(all.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).size).toBe(all.length);
  });

  it("sets only variables that a worker has, to values that it takes", () => {
    const names = [...Object.keys(settings), ...(container.env ?? []).map(({ name }) => name)];
    const own = names.filter((name) => name !== "NODE_EXTRA_CA_CERTS");
    expect(own.filter((name) => !Object.hasOwn(workerSettings.shape, name))).toEqual([]);
    expect(names).toContain("REDIS_URL");
    const config = readConfig({ ...settings, REDIS_URL: "redis://there" }, "/app");
    expect(container.ports).toEqual([{ name: "metrics", containerPort: config.metricsPort }]);
    expect(config.metricsHost).toBe("0.0.0.0");
  });

  it("gives a worker the time to drain and to leave", () => {
    const config = readConfig({ ...settings, REDIS_URL: "redis://there" }, "/app");
    const grace = worker.template.spec.terminationGracePeriodSeconds * 1000;
    expect(grace).toBeGreaterThanOrEqual(config.drainMs + LEAVE_MS + 5000);
  });

  it("asks the probes that a worker serves, and restarts it only for what lasts", () => {
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
      expect(["/readyz", "/healthz"]).toContain(probe?.httpGet?.path);
      expect(probe?.httpGet?.port).toBe("metrics");
    }
    expect(container.livenessProbe?.httpGet?.path).toBe("/healthz");
    const { periodSeconds = 0, failureThreshold = 0 } = container.livenessProbe ?? {};
    const { leaseMs } = readConfig({ ...settings, REDIS_URL: "redis://there" }, "/app");
    expect(periodSeconds * failureThreshold * 1000).toBeGreaterThan(4 * leaseMs);
  });

  it("lets nothing run as root, write its own files, or grow without bounds", () => {
    for (const { template } of pods) {
      expect(template.spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      });
      for (const { image, resources, securityContext } of template.spec.containers) {
        expect(image).toMatch(/:[\w.-]+$/);
        expect(image).not.toMatch(/:latest$/);
        expect(Object.keys(resources.requests).sort()).toEqual(["cpu", "memory"]);
        expect(resources.limits.memory).toBeDefined();
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
      }
    }
  });

  it("selects pods that there are, and spreads workers", () => {
    const selectors = [
      ...pods.map(({ selector }) => selector.matchLabels),
      ...of(all, "Service").map((one) => spec<{ selector: Record<string, string> }>(one).selector),
      ...[...of(all, "PodDisruptionBudget")].map((one) => spec<Pods>(one).selector.matchLabels),
      ...of(all, "NetworkPolicy").map(
        (one) => spec<{ podSelector: { matchLabels: Record<string, string> } }>(one).podSelector.matchLabels,
      ),
      ...(worker.template.spec.topologySpreadConstraints ?? []).map((one) => one.labelSelector.matchLabels),
    ];
    for (const selector of selectors) {
      expect(
        pods.some(({ template }) => fits(selector, template.metadata.labels)),
        JSON.stringify(selector),
      ).toBe(true);
    }
    expect(worker.template.spec.topologySpreadConstraints).toHaveLength(2);
    for (const { template } of pods)
      expect(template.metadata.labels["app.kubernetes.io/part-of"]).toBe("drover");
  });

  it("has ports under the names by which they are called", () => {
    for (const service of of(all, "Service")) {
      const { selector, ports } = spec<{ selector: Record<string, string>; ports: { targetPort: string }[] }>(
        service,
      );
      const named = pods
        .filter(({ template }) => fits(selector, template.metadata.labels))
        .flatMap(({ template }) => template.spec.containers.flatMap((one) => one.ports ?? []));
      for (const { targetPort } of ports) expect(named.map(({ name }) => name)).toContain(targetPort);
    }
  });

  it("takes secrets by reference, those that its head names, and holds none", () => {
    expect(of(all, "Secret")).toEqual([]);
    const text = JSON.stringify(all);
    const named = [
      ...text.matchAll(/"(?:secretRef|secretKeyRef)":\{[^}]*"name":"([^"]+)"|"secretName":"([^"]+)"/g),
    ];
    expect(named.length).toBeGreaterThan(0);
    for (const [, ref, volume] of named) expect(SECRETS).toContain(ref ?? volume);
    expect(text).not.toMatch(/sk-|BEGIN|password=|:\/\/[^"/]*:[^"/]*@/);
  });

  it("updates without a gap", () => {
    expect(spec(of(all, "Deployment")[0])).toMatchObject({
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
  });
});

describe("k8s/overlays/prod", () => {
  const all = render("overlays/prod");
  const [monitor] = of(all, "ServiceMonitor");
  const [scaling] = of(all, "ScaledObject");

  it("is scraped under the job that the alerts look for", () => {
    const { selector, endpoints } = spec<
      Pods & { endpoints: { port: string; path: string; relabelings: object[] }[] }
    >(monitor);
    const [service] = of(all, "Service");
    expect(fits(selector.matchLabels, service?.metadata.labels)).toBe(true);
    expect(spec<{ ports: { name: string }[] }>(service).ports[0]?.name).toBe(endpoints[0]?.port);
    expect(endpoints[0]).toMatchObject({
      path: "/metrics",
      relabelings: [{ targetLabel: "job", replacement: "drover" }],
    });
    expect(of(all, "PrometheusRule")).toHaveLength(1);
  });

  it("scales on depth and age, and never below what is running", () => {
    const { scaleTargetRef, minReplicaCount, triggers } = spec<{
      scaleTargetRef: { name: string };
      minReplicaCount: number;
      triggers: { name: string; metadata: { query: string; threshold: string } }[];
    }>(scaling);
    const [deployment] = of(all, "Deployment");
    expect(scaleTargetRef.name).toBe(deployment?.metadata.name);
    expect(spec(deployment)).not.toHaveProperty("replicas");
    expect(minReplicaCount).toBeGreaterThanOrEqual(2);
    expect(triggers.map(({ name }) => name)).toEqual(["ready", "age", "running"]);
    for (const { metadata } of triggers) {
      expect(METRICS).toHaveProperty(/drover_\w+/.exec(metadata.query)?.[0] ?? "none");
    }
    const settings = of(all, "ConfigMap")[0]?.data as Record<string, string>;
    expect(triggers[2]?.metadata.threshold).toBe(settings.DROVER_CONCURRENCY);
  });

  it("reaches Redis by TLS and no other way", () => {
    const text = JSON.stringify(all);
    expect(text).not.toContain("redis://");
    expect(text).not.toContain("6379");
    expect(text).toContain('"port":6380');
  });
});

describe("the check of manifests", () => {
  const [pod] = of(render("overlays/dev"), "Deployment") as [Manifest];
  const changed = (from: string, to: string) => JSON.parse(JSON.stringify(pod).replace(from, to)) as Manifest;

  it("refuses misspelt keys and wrong values", () => {
    expect(unknownKeys(changed("imagePullPolicy", "imagePullPolcy"))).toEqual([
      "/spec/template/spec/containers/0/imagePullPolcy",
    ]);
    expect(unknownKeys(changed("livenessProbe", "livenesProbe"))).toContain(
      "/spec/template/spec/containers/0/livenesProbe",
    );
    expect(() => unknownKeys(changed('"containerPort":9464', '"containerPort":"metrics"'))).toThrow();
  });
});
