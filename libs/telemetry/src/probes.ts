import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DroverError } from "@drover/contracts";
import type { Metrics } from "./metrics.js";

export interface CheckResult {
  ok: boolean;
  /** What is wrong; told to whoever reaches the probe, and only where it is. */
  reason?: string;
}
export type Check = () => CheckResult | Promise<CheckResult>;

export interface ProbesOptions {
  metrics: Metrics;
  checks: {
    /**
     * /healthz: does the process make progress? A process that fails is restarted, so each check looks at work that
     * moves (the last job taken, the last lease renewed), never at whether somebody else answers.
     */
    health: Readonly<Record<string, Check>>;
    /** /readyz: can it work right now, Redis reached and not draining? Default: the checks of health. */
    ready?: Readonly<Record<string, Check>>;
  };
  /** Default 0: a free port, told by `port`. */
  port?: number;
  /** Default 127.0.0.1. Use 0.0.0.0 where Prometheus or the kubelet comes from outside. */
  host?: string;
  /** A check that has not answered by then has failed. Default 800, below the kubelet's default patience of 1 s. */
  checkTimeoutMs?: number;
}

export interface Probes {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves /metrics, /healthz and /readyz. The two probes answer 200 or 503 with {ok, checks: [{name, ok, reason}]},
 * in which a check that is ok has no reason.
 * Another path is 404, another method than GET is 405. Throws INVALID_CONFIG where the port can't be had.
 */
export async function createProbes(options: ProbesOptions): Promise<Probes> {
  const { metrics, checks, host = "127.0.0.1", port = 0, checkTimeoutMs = 800 } = options;

  async function probeHealth(): Promise<NamedResult[]> {
    const results = await runChecks(checks.health, checkTimeoutMs);
    for (const { name, ok } of results) metrics.set("drover_health_check_ok", { check: name }, ok ? 1 : 0);
    return results;
  }
  const routes: Record<string, (response: ServerResponse) => Promise<void>> = {
    "/metrics": async (response) => {
      await probeHealth();
      send(response, 200, metrics.contentType, await metrics.render());
    },
    "/healthz": async (response) => sendResults(response, await probeHealth()),
    "/readyz": async (response) => {
      sendResults(
        response,
        checks.ready ? await runChecks(checks.ready, checkTimeoutMs) : await probeHealth(),
      );
    },
  };

  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (!route) return sendJson(response, 404, { error: "Use /metrics, /healthz or /readyz." });
    if (request.method !== "GET") {
      response.setHeader("allow", "GET");
      return sendJson(response, 405, { error: "Use GET." });
    }
    route(response).catch(() => sendJson(response, 500, { error: "The answer could not be made." }));
  });

  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: Error) => {
      const message = `The probes can't listen on ${host}:${port} (${cause.message}). Set another port or host.`;
      reject(new DroverError("INVALID_CONFIG", message, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface NamedResult {
  name: string;
  ok: boolean;
  reason?: string;
}

function runChecks(checks: Readonly<Record<string, Check>>, timeoutMs: number): Promise<NamedResult[]> {
  return Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const { ok, reason = "" } = await oneCheck(check, timeoutMs);
      return ok === true ? { name, ok } : { name, ok: false, reason };
    }),
  );
}

async function oneCheck(check: Check, timeoutMs: number): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CheckResult>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, reason: `no answer in ${timeoutMs} ms` }), timeoutMs);
  });
  try {
    return await Promise.race([check(), late]);
  } catch {
    // What it threw is not shown: it may hold an address or a password.
    return { ok: false, reason: "the check threw an error" };
  } finally {
    clearTimeout(timer);
  }
}

function sendResults(response: ServerResponse, results: NamedResult[]): void {
  const ok = results.every((result) => result.ok);
  sendJson(response, ok ? 200 : 503, { ok, checks: results });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  send(response, status, "application/json; charset=utf-8", `${JSON.stringify(body)}\n`);
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
}
