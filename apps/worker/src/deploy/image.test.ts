/**
 * There is no Docker engine where these tests run: the Dockerfile's own steps are done in a clean folder instead, and
 * what comes of them starts. `npm ci` and `tsc` are done for real where DROVER_IMAGE=full; else what they made here
 * stands in for them.
 */
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startRedis } from "@drover/embedded";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { readConfig, workerSettings } from "../config.js";
import { stagesOf } from "./dockerfile.js";
import { envExample } from "./env-example.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const stages = stagesOf(read("infra/Dockerfile"));
const ignored = read("infra/Dockerfile.dockerignore").split("\n").filter(Boolean);
const isFull = process.env.DROVER_IMAGE === "full";

/** The files that a build is sent: those of the repository that .dockerignore lets pass. */
function contextFiles(): string[] {
  const all = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  const top = ignored.filter((line) => !line.startsWith("**/"));
  return all
    .split("\n")
    .filter((path) => path !== "" && !top.some((folder) => path === folder || path.startsWith(`${folder}/`)))
    .filter((path) => existsSync(join(root, path)));
}

function copyIn(args: string, files: readonly string[], to: string): void {
  const words = args.split(/\s+/);
  const target = join(to, words.pop() ?? ".");
  for (const source of words) {
    const found = files.filter((path) => path === source || path.startsWith(`${source}/`));
    if (found.length === 0) throw new Error(`COPY ${source}: the context does not have it`);
    for (const path of found) {
      const isFile = path === source;
      const name = isFile
        ? join(target, path.slice(path.lastIndexOf("/") + 1))
        : join(target, path.slice(source.length));
      mkdirSync(dirname(name), { recursive: true });
      cpSync(join(root, path), name);
    }
  }
}

/** What stands in for a step that takes minutes. True where it did. */
function standIn(command: string, app: string): boolean {
  if (isFull) return false;
  if (command.startsWith("npm ci")) {
    execFileSync("cp", ["-al", join(root, "node_modules"), app]);
    // npm writes into this one: it must not be the same file.
    rmSync(join(app, "node_modules/.package-lock.json"));
    cpSync(join(root, "node_modules/.package-lock.json"), join(app, "node_modules/.package-lock.json"));
    return true;
  }
  if (!command.startsWith("npx tsc")) return false;
  for (const folder of ["libs", "apps", "examples"]) {
    for (const name of readdirSync(join(app, folder))) {
      const dist = join(root, folder, name, "dist");
      if (existsSync(dist)) execFileSync("cp", ["-al", dist, join(app, folder, name)]);
    }
  }
  return true;
}

function build(): { app: string; bin: string; remove: () => void } {
  mkdirSync(join(root, ".drover"), { recursive: true });
  const folder = mkdtempSync(join(root, ".drover/image-"));
  const [first, last] = [join(folder, "build"), join(folder, "app")];
  const bin = join(folder, "bin");
  const files = contextFiles();
  mkdirSync(first);
  for (const { name, args } of stages[0] ?? []) {
    if (name === "COPY") copyIn(args, files, first);
    if (name === "RUN" && !standIn(args, first))
      execFileSync("sh", ["-c", args], { cwd: first, stdio: "pipe" });
  }
  for (const { name, args } of stages[1] ?? []) {
    if (name !== "COPY") continue;
    if (args.startsWith("--from=build")) execFileSync("cp", ["-al", first, last]);
    else copyIn(args.replace("/usr/local/bin/", "bin/"), files, folder);
  }
  return { app: last, bin, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

describe("the image", () => {
  it("is built in two stages from pinned bases, and runs as nobody special, told by its command", () => {
    expect(stages).toHaveLength(2);
    const froms = stages.map(([from]) => from?.args.split(" ")[0]);
    for (const base of froms) expect(base).toMatch(/^node:\d+\.\d+\.\d+-bookworm-slim$/);
    const last = stages[1] ?? [];
    expect(last.findLast(({ name }) => name === "USER")?.args).toBe("node");
    expect(last.findLast(({ name }) => name === "CMD")?.args).toBe('["drover-worker"]');
    const all = stages.flat();
    expect(all.filter(({ name }) => ["ADD", "ARG", "VOLUME"].includes(name))).toEqual([]);
    expect(all.filter(({ args }) => /curl|wget|sudo|KEY|TOKEN|PASSWORD|SECRET/.test(args))).toEqual([]);
    for (const line of ["**/node_modules", "**/dist", "**/.env", ".git", ".drover"])
      expect(ignored).toContain(line);
  });

  it("starts a worker and the command line, and holds nothing for developers", async () => {
    const { app, bin, remove } = build();
    onTestFinished(remove);
    for (const name of [
      "typescript",
      "vitest",
      "@biomejs/biome",
      "kubernetes-models",
      "@grafana/grafana-foundation-sdk",
    ]) {
      expect(existsSync(join(app, "node_modules", name)), name).toBe(false);
    }
    for (const gone of ["libs/state/src", "libs/chaos", "apps/worker/testing", "scripts", ".git"]) {
      expect(existsSync(join(app, gone)), gone).toBe(false);
    }
    for (const script of ["drover", "drover-worker"])
      expect(statSync(join(bin, script)).mode & 0o111).toBe(0o111);
    expect(readFileSync(join(bin, "drover"), "utf8")).toContain("/app/apps/cli/dist/main.js");
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const env = { PATH: process.env.PATH, REDIS_URL: redis.url, NODE_ENV: "production" };
    const worker = spawn(process.execPath, ["apps/worker/dist/main.js"], { cwd: app, env });
    let output = "";
    worker.stdout.on("data", (data: Buffer) => {
      output += data.toString();
    });
    worker.stderr.on("data", (data: Buffer) => {
      output += data.toString();
    });
    const exited = new Promise<number | null>((resolve) => worker.once("exit", resolve));
    onTestFinished(() => void worker.kill("SIGKILL"));
    await expect.poll(() => output, { timeout: 60_000 }).toContain("worker ready");
    const listed = execFileSync(process.execPath, ["apps/cli/dist/main.js", "queue", "stats", "--json"], {
      cwd: app,
      env,
    });
    expect(JSON.parse(listed.toString()).workers).toHaveLength(1);
    worker.kill("SIGTERM");
    expect(await exited).toBe(0);
  }, 900_000);
});

describe("infra/compose.yml", () => {
  const { services } = parse(read("infra/compose.yml"), { merge: true }) as {
    services: Record<string, Record<string, never> & { image: string; environment?: Record<string, string> }>;
  };

  it("has everything, pinned, and no secret", () => {
    expect(Object.keys(services).sort()).toEqual(
      ["alertmanager", "cli", "grafana", "prometheus", "receiver", "redis", "worker"].sort(),
    );
    for (const { image } of Object.values(services)) expect(image).toMatch(/:(dev|v?\d+\.\d+[\w.-]*)$/);
    expect(read("infra/compose.yml")).not.toMatch(/sk-|password/i);
  });

  it("keeps what Redis accepted, and gives workers time to leave", () => {
    expect(services.redis).toMatchObject({
      command: expect.stringMatching(/--appendonly yes.*--maxmemory-policy noeviction/),
    });
    const worker = services.worker as unknown as {
      environment: Record<string, string>;
      deploy: { replicas: number };
      stop_grace_period: string;
    };
    for (const name of Object.keys(worker.environment)) expect(workerSettings.shape).toHaveProperty(name);
    const config = readConfig(worker.environment, "/app");
    expect(Number.parseInt(worker.stop_grace_period, 10) * 1000).toBeGreaterThanOrEqual(
      config.drainMs + 10_000,
    );
    expect(worker.deploy.replicas).toBe(2);
    expect(read("infra/prometheus/prometheus.yml")).toContain(`port: ${config.metricsPort}`);
    for (const name of ["worker", "cli", "receiver"]) {
      expect(services[name]).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
    }
  });

  it("mounts only what there is", () => {
    const mounts = Object.values(services).flatMap((one) => (one as { volumes?: string[] }).volumes ?? []);
    const paths = mounts.map((mount) => mount.split(":")[0] ?? "").filter((path) => path.startsWith("."));
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths) expect(existsSync(join(root, "infra", path)), path).toBe(true);
    const provider = parse(read("grafana/provisioning/dashboards/drover.yml")) as {
      providers: { options: { path: string } }[];
    };
    expect(mounts).toContain(`../grafana/dashboards:${provider.providers[0]?.options.path}:ro`);
  });
});

it("infra/.env.example has every variable of a worker", () => {
  expect(
    read("infra/.env.example"),
    "build, then run: node apps/worker/dist/deploy/write-env-example.js",
  ).toBe(envExample());
  for (const name of Object.keys(workerSettings.shape))
    expect(envExample()).toMatch(new RegExp(`^# .*\\n#${name}=`, "m"));
});
