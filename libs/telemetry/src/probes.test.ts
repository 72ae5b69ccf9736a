import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createMetrics } from "./metrics.js";
import { createProbes, type Probes, type ProbesOptions } from "./probes.js";

const open: Probes[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((probes) => probes.close()));
});

async function start(checks: ProbesOptions["checks"], more: Partial<ProbesOptions> = {}): Promise<Probes> {
  const probes = await createProbes({ metrics: createMetrics(), checks, ...more });
  open.push(probes);
  return probes;
}

describe("createProbes", () => {
  it("serves metrics, with the state of the health checks", async () => {
    const probes = await start({ health: { progress: () => ({ ok: true }), lease: () => ({ ok: false }) } });
    const response = await fetch(`${probes.url}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).toContain('drover_health_check_ok{check="progress"} 1');
    expect(text).toContain('drover_health_check_ok{check="lease"} 0');
  });

  it("is healthy while every check says so", async () => {
    let idleMs = 10;
    const progress = () => ({ ok: idleMs < 1000, reason: `last progress ${idleMs} ms ago` });
    const probes = await start({ health: { progress } });
    const healthy = await fetch(`${probes.url}/healthz`);
    expect(healthy.status).toBe(200);
    expect(await healthy.json()).toEqual({
      ok: true,
      checks: [{ name: "progress", ok: true }],
    });
    idleMs = 5000;
    const stuck = await fetch(`${probes.url}/healthz`);
    expect(stuck.status).toBe(503);
    expect(await stuck.json()).toEqual({
      ok: false,
      checks: [{ name: "progress", ok: false, reason: "last progress 5000 ms ago" }],
    });
  });

  it("tells readiness apart from health", async () => {
    const probes = await start({
      health: { progress: () => ({ ok: true }) },
      ready: { draining: async () => ({ ok: false, reason: "the worker is draining" }) },
    });
    expect((await fetch(`${probes.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${probes.url}/readyz`)).status).toBe(503);
    const same = await start({ health: { progress: () => ({ ok: true }) } });
    expect((await fetch(`${same.url}/readyz`)).status).toBe(200);
  });

  it("counts a check that throws or hangs as failed, and tells nothing that it threw", async () => {
    const probes = await start(
      {
        health: {
          throws: () => {
            throw new Error("redis://user:password@host");
          },
          rejects: () => Promise.reject(new Error("secret")),
          hangs: () => new Promise(() => {}),
        },
      },
      { checkTimeoutMs: 50 },
    );
    const response = await fetch(`${probes.url}/healthz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      ok: false,
      checks: [
        { name: "throws", ok: false, reason: "the check threw an error" },
        { name: "rejects", ok: false, reason: "the check threw an error" },
        { name: "hangs", ok: false, reason: "no answer in 50 ms" },
      ],
    });
  });

  it.each(["/", "/metrics/", "/healthzz", "/constructor"])("answers 404 for %s", async (path) => {
    const probes = await start({ health: {} });
    expect((await fetch(`${probes.url}${path}`)).status).toBe(404);
  });

  it.each(["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])("answers 405 for %s", async (method) => {
    const probes = await start({ health: {} });
    const response = await fetch(`${probes.url}/healthz?verbose`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET");
  });

  it("answers 500 without details when the metrics can't be rendered", async () => {
    const broken = { ...createMetrics(), render: () => Promise.reject(new Error("inner")) };
    const probes = await start({ health: {} }, { metrics: broken });
    const response = await fetch(`${probes.url}/metrics`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("inner");
  });

  it("says which port it could not have", async () => {
    const first = await start({ health: {} });
    await expect(
      createProbes({ metrics: createMetrics(), checks: { health: {} }, port: first.port }),
    ).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: expect.stringContaining(`can't listen on 127.0.0.1:${first.port}`),
    });
  });

  it("closes at once, also while a client keeps its connection", async () => {
    const probes = await createProbes({ metrics: createMetrics(), checks: { health: {} } });
    await (await fetch(`${probes.url}/healthz`)).text();
    await probes.close();
    await expect(fetch(`${probes.url}/healthz`)).rejects.toThrow();
    const again = createServer();
    await new Promise<void>((resolve) => again.listen(probes.port, "127.0.0.1", resolve));
    again.close();
  });
});
