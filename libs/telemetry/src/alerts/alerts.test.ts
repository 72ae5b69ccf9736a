import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { isKnownCommand, repositoryFile, unknownMetrics } from "../testing/repository.js";
import { runTool } from "../testing/tools.js";
import { ALERT_CASES } from "./alert-cases.js";
import { alertFiles } from "./alert-files.js";
import { ALERTS } from "./alerts.js";

const rules = fileURLToPath(new URL("../../../../infra/prometheus/alerts.yml", import.meta.url));
const runbooks = repositoryFile("docs/runbooks.md");

describe("the alerts", () => {
  it.each(Object.entries(alertFiles()))("are what %s says", (path, text) => {
    expect(repositoryFile(path), "build, then run: node libs/telemetry/dist/alerts/write-alerts.js").toBe(
      text,
    );
  });

  it.each(ALERTS)("$name asks for metrics that exist and has a runbook", ({ name, expr, command }) => {
    expect(unknownMetrics(expr)).toEqual([]);
    expect(isKnownCommand(command), command).toBe(true);
    const [, section = ""] = runbooks.split(`### ${name}\n`);
    const [text = ""] = section.split(/^##/m);
    for (const part of ["**It means:**", "**Look:**", "**Remedy:**"]) expect(text).toContain(part);
    expect(text, "the runbook names the alert's command").toContain(
      command.replaceAll("{{ $labels.agent }}", "<agent>"),
    );
  });

  it("are those that have runbooks, and those that are tried", () => {
    const names = ALERTS.map(({ name }) => name);
    expect([...runbooks.matchAll(/^### (Drover\w+)$/gm)].map(([, name]) => name)).toEqual(names);
    expect(ALERT_CASES.map(({ alert }) => alert)).toEqual(names);
  });

  it.each(["prometheus.yml", "local.yml"])("are read by %s", async (name) => {
    const config = fileURLToPath(new URL(`../../../../infra/prometheus/${name}`, import.meta.url));
    const { code, output } = await runTool("promtool", ["check", "config", config]);
    expect(output).toContain("1 rule files found");
    expect(code).toBe(0);
  });

  it("pass promtool's check", async () => {
    const { code, output } = await runTool("promtool", ["check", "rules", rules]);
    expect(output).toContain(`${ALERTS.length} rules found`);
    expect(code).toBe(0);
  });

  it("reach somebody: Alertmanager's example is valid, and knows where critical ones go", async () => {
    const config = fileURLToPath(new URL("../../../../infra/alertmanager/alertmanager.yml", import.meta.url));
    expect(await runTool("amtool", ["check-config", config])).toMatchObject({ code: 0 });
    const route = ["config", "routes", "test", `--config.file=${config}`, "severity=critical"];
    expect(await runTool("amtool", route)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^webhook$/m),
    });
  });

  it("are quiet before there is a reason, fire while there is one, and resolve", async () => {
    const folder = mkdtempSync(join(tmpdir(), "drover-alerts-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "cases.yml");
    writeFileSync(file, stringify(unitTests(), { aliasDuplicateObjects: false }));
    const { code, output } = await runTool("promtool", ["test", "rules", file]);
    expect(output).toContain("SUCCESS");
    expect(code).toBe(0);
  }, 60_000);
});

/** promtool's own form of tests. */
function unitTests(): object {
  const at = (alert: string, minutes: number, count: number) => ({
    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
    eval_time: `${minutes}m`,
    exp_samples: [{ labels: "{}", value: count }],
  });
  return {
    rule_files: [rules],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        // All at once: no series is of two cases, unless it is the same.
        input_series: Object.entries(Object.assign({}, ...ALERT_CASES.map((one) => one.values))).map(
          ([series, values]) => ({ series, values }),
        ),
        promql_expr_test: ALERT_CASES.flatMap(({ alert }) => [
          at(alert, 9, 0),
          at(alert, 39, 1),
          at(alert, 125, 0),
        ]),
      },
    ],
  };
}
