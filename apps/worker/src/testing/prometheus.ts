import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { toolPath } from "../../../../libs/telemetry/src/testing/tools.js";

const infra = fileURLToPath(new URL("../../../../infra/", import.meta.url));
const read = (path: string) => readFileSync(join(infra, path), "utf8");

export interface Sample {
  metric: Record<string, string>;
  value: number;
}

/** What Prometheus told whoever stands in Alertmanager's place. */
export interface Told {
  name: string;
  status: "firing" | "resolved";
  annotations: Record<string, string>;
}

/**
 * Prometheus by the files of infra/, only faster and with other addresses; in Alertmanager's place a server that notes
 * what it is told. (Debian's Alertmanager starts only where it is installed; the file for it is checked by amtool.)
 */
export interface Watch {
  query(expr: string): Promise<Sample[]>;
  /** Names of alerts that fire now. */
  firing(): Promise<string[]>;
  told: readonly Told[];
  stop(): Promise<void>;
}

export async function startWatch(workers: readonly string[]): Promise<Watch> {
  const folder = mkdtempSync(join(tmpdir(), "drover-watch-"));
  const port = await freePort();
  const told: Told[] = [];
  const alertmanager = await startReceiver(told);
  const quick = (text: string) =>
    text.replace(/for: \d+m/g, "for: 0s").replace(/(scrape|evaluation)_interval: 15s/g, "$1_interval: 500ms");
  writeFileSync(join(folder, "alerts.yml"), quick(read("prometheus/alerts.yml")));
  writeFileSync(
    join(folder, "prometheus.yml"),
    quick(read("prometheus/prometheus.yml"))
      .replace("alertmanager:9093", alertmanager.address)
      .replace(/dns_sd_configs:[\s\S]*/, `static_configs: [{ targets: ${JSON.stringify(workers)} }]\n`),
  );
  const prometheus = spawn(
    toolPath("prometheus"),
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await kill(prometheus);
    alertmanager.server.close();
    alertmanager.server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(url);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    told,
    stop,
    async query(expr) {
      const answer = await getJson(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
      if (answer.status !== "success") throw new Error(`${expr}: ${answer.error}`);
      return answer.data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async firing() {
      const { data } = await getJson(
        `${url}/api/v1/query?query=${encodeURIComponent('ALERTS{alertstate="firing"}')}`,
      );
      return data.result.map(({ metric }) => metric.alertname ?? "");
    },
  };
}

interface Answer {
  status: string;
  error?: string;
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

const getJson = async (url: string): Promise<Answer> => (await fetch(url)).json() as Promise<Answer>;

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(`${url}/-/ready`).catch(() => null);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error(`${url} did not start`);
}

async function startReceiver(told: Told[]): Promise<{ address: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const alerts = JSON.parse(Buffer.concat(parts).toString()) as {
      labels: Record<string, string>;
      annotations: Record<string, string>;
      endsAt: string;
    }[];
    for (const { labels, annotations, endsAt } of alerts) {
      const status = Date.parse(endsAt) > Date.now() ? "firing" : "resolved";
      told.push({ name: labels.alertname ?? "", status, annotations });
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
