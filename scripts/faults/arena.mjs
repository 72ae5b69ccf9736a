import { spawn } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { toolsFolder } from "../setup/prometheus.mjs";
import { which } from "../setup/system.mjs";
import { quickened } from "./quickened.mjs";

const WORKERS = 2;

/** A fleet that starts its dead workers again, a provider that obeys, a Prometheus that watches. */
export async function startArena(root) {
  const { startRedis } = await import("../../libs/embedded/dist/index.js");
  const { Client } = await import("../../libs/queue/dist/index.js");
  const { startProviderServer } = await import("../../libs/runtime/dist/testing/index.js");
  mkdirSync(join(root, ".drover"), { recursive: true });
  const folder = mkdtempSync(join(root, ".drover", "faults-"));
  const redis = await startRedis({ maxmemory: "512mb" });
  const script = (request) => answer(request);
  const provider = await startProviderServer({ script });
  const client = new Client({ redisUrl: redis.url });
  const project = join(root, "apps/worker/testing/watched");
  writeFileSync(join(folder, "ledger.jsonl"), "");
  const ports = await Promise.all(Array.from({ length: WORKERS }, freePort));
  let isOver = false;
  const children = ports.map(() => undefined);

  const startWorker = (i) => {
    const log = createWriteStream(join(folder, `worker-${i + 1}.log`), { flags: "a" });
    const child = spawn(process.execPath, [join(root, "apps/worker/dist/main.js")], {
      env: {
        ...{ PATH: process.env.PATH, REDIS_URL: redis.url, DROVER_ROOT: project, ...provider.env },
        ...{
          DROVER_METRICS_PORT: String(ports[i]),
          LEDGER: join(folder, "ledger.jsonl"),
          DROVER_LEASE_MS: "5000",
          DROVER_MAX_CRASHES: "2",
        },
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.pipe(log);
    child.stderr.pipe(log);
    // As a service manager does: after a while, so that it is missed.
    child.once("exit", () => !isOver && setTimeout(() => !isOver && startWorker(i), 5000));
    children[i] = child;
  };
  for (const i of ports.keys()) startWorker(i);
  const metrics = ports.map((port) => `http://127.0.0.1:${port}/metrics`);
  await Promise.all(metrics.map((url) => untilAnswered(url.replace("metrics", "readyz"))));
  await untilTold(metrics);
  const watch = await startPrometheus(root, folder, ports);

  return {
    metrics,
    prometheus: watch.url,
    logs: folder,
    commandLine: `REDIS_URL='${redis.url}' DROVER_ROOT='${project}' npm run drover --`,
    provider,
    script,
    start: (input, more = {}) =>
      void client.enqueueRun({ agent: "clerk", input, maxAttempts: 1, ...more }).catch(() => {}),
    kill: (i) => children[i]?.kill("SIGKILL"),
    /** @param times of what Redis uses now; null: as it was */
    async limitMemory(times) {
      const used = Number(/used_memory:(\d+)/.exec(await client.state.redis.info("memory"))?.[1]);
      await client.state.redis.config(
        "SET",
        "maxmemory",
        times === null ? "512mb" : String(Math.round(used * times)),
      );
    },
    async stop() {
      isOver = true;
      watch.stop();
      for (const child of children) child?.kill("SIGKILL");
      await client.close();
      await provider.close();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the model says follows from what is asked. */
function answer({ messages }) {
  const asked = messages.findLast(({ role }) => role === "user")?.text ?? "";
  if (messages.some(({ role }) => role === "tool")) return { text: "done" };
  if (asked === "broken tool") return { toolCalls: [{ name: "look_up", args: { broken: true } }] };
  if (asked === "ask") return { toolCalls: [{ name: "transfer", args: {} }] };
  return { text: "done", delayMs: asked === "slow" ? 5000 : 200 };
}

/** With the rules of infra/, in which a minute is three seconds; prints each alert. */
async function startPrometheus(root, folder, ports) {
  let hasScraped = false;
  const told = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const alerts = hasScraped ? JSON.parse(Buffer.concat(parts).toString()) : [];
    for (const { labels, annotations, endsAt } of alerts) {
      tell(labels, annotations, Date.parse(endsAt) > Date.now());
    }
    response.end();
  });
  await new Promise((resolve) => told.listen(0, "127.0.0.1", resolve));
  const read = (name) => quickened(readFileSync(join(root, "infra/prometheus", name), "utf8"));
  writeFileSync(join(folder, "alerts.yml"), read("alerts.yml"));
  writeFileSync(
    join(folder, "prometheus.yml"),
    read("prometheus.yml")
      .replace("alertmanager:9093", `127.0.0.1:${told.address().port}`)
      .replace(
        /dns_sd_configs:[\s\S]*/,
        `static_configs: [{ targets: ${JSON.stringify(ports.map((p) => `127.0.0.1:${p}`))} }]\n`,
      ),
  );
  const port = await freePort();
  const binary = which("prometheus", `${join(toolsFolder(root), "usr/bin")}:${process.env.PATH}`);
  const child = spawn(
    binary,
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const url = `http://127.0.0.1:${port}`;
  await untilAnswered(`${url}/-/ready`);
  // It judges before its first scrape, which it takes its time for: nobody is told that there are no workers.
  await untilEmpty(`${url}/api/v1/query`, 'absent(drover_workers) or ALERTS{alertname="DroverNoWorkers"}');
  hasScraped = true;
  return {
    url,
    stop() {
      child.kill("SIGKILL");
      told.close();
      told.closeAllConnections();
    },
  };
}

const firing = new Set();

function tell(labels, annotations, fires) {
  const key = JSON.stringify(labels);
  if (fires === firing.has(key)) return;
  if (fires) firing.add(key);
  else firing.delete(key);
  console.log(
    `${fires ? "FIRES   " : "resolved"} ${labels.alertname} (${labels.severity}): ${annotations.summary}`,
  );
  if (fires) console.log(`         look: ${annotations.command} · ${annotations.runbook}`);
}

async function untilEmpty(api, query) {
  for (let tries = 0; tries < 600; tries += 1) {
    const answer = await fetch(`${api}?query=${encodeURIComponent(query)}`);
    if ((await answer.json()).data.result.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Prometheus still finds: ${query}`);
}

async function untilAnswered(url) {
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await fetch(url).catch(() => null))?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} does not answer`);
}

/** Until one of the workers tells of the fleet: before that, nobody can know that there are any. */
async function untilTold(metrics) {
  for (let tries = 0; tries < 600; tries += 1) {
    const texts = await Promise.all(metrics.map(async (url) => (await fetch(url)).text()));
    if (texts.some((text) => /^drover_workers 2$/m.test(text))) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("No worker tells of the fleet");
}

async function freePort() {
  const server = createTcpServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
