import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { runTool } from "../../libs/telemetry/src/testing/tools.js";
import { quickened } from "./quickened.mjs";

const rules = readFileSync(
  fileURLToPath(new URL("../../infra/prometheus/alerts.yml", import.meta.url)),
  "utf8",
);

/** Scrapes every two seconds; `asked` gives by alert and second how many must fire. */
async function expectFiring(series, asked) {
  const folder = mkdtempSync(join(tmpdir(), "drover-exercise-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "alerts.yml"), quickened(rules));
  const cases = {
    rule_files: ["alerts.yml"],
    evaluation_interval: "2s",
    tests: [
      {
        interval: "2s",
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: asked.map(([alert, second, value]) => ({
          expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
          eval_time: `${second}s`,
          exp_samples: [{ labels: "{}", value }],
        })),
      },
    ],
  };
  writeFileSync(join(folder, "cases.yml"), JSON.stringify(cases));
  const { output } = await runTool("promtool", ["test", "rules", join(folder, "cases.yml")]);
  expect(output).toContain("SUCCESS");
}

describe("the alerts of the exercise", () => {
  it("stay quiet while another worker begins to tell of the fleet, and fire where nobody does", async () => {
    await expectFiring({ drover_workers: "2x9 stale _x3 2x9 stale _x30" }, [
      ["DroverNoWorkers", 26, 0],
      ["DroverNoWorkers", 28, 0],
      ["DroverNoWorkers", 40, 0],
      ["DroverNoWorkers", 78, 1],
    ]);
  });

  it("fire for a run that waits as long as five minutes are here", async () => {
    await expectFiring({ drover_oldest_waiting_run_age_seconds: "0+2x60" }, [
      ["DroverOldestRunTooOld", 14, 0],
      ["DroverOldestRunTooOld", 22, 1],
    ]);
  });

  it("fire for a blocked event loop, though it can be scraped only between two blocks", async () => {
    // Nine seconds of each ten: ninety samples that come late, and five that do not.
    const scraped = (first, each) =>
      Array.from({ length: 6 }, (_, i) => `${first + each * i} stale _x3`).join(" ");
    const bucket = (le) => `drover_event_loop_lag_seconds_bucket{instance="a",le="${le}"}`;
    await expectFiring(
      { [bucket("1")]: scraped(5, 5), [bucket("10")]: scraped(95, 95), [bucket("+Inf")]: scraped(95, 95) },
      [
        ["DroverEventLoopBlocked", 12, 1],
        ["DroverEventLoopBlocked", 18, 1],
        ["DroverEventLoopBlocked", 40, 1],
      ],
    );
  });
});
