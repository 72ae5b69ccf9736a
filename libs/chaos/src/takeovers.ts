import type { State } from "@drover/state";
import type { RunHistory } from "./history.js";

/** A run that a worker had when it was killed. */
interface Orphaned {
  runId: string;
  seq: number;
  at: number;
}

/** Measures how long runs wait for another worker when theirs was killed. All times are Redis's. */
export class Takeovers {
  private readonly orphaned: Orphaned[] = [];

  constructor(private readonly state: State) {}

  /** To be called right after the process was killed. */
  async noteKill(pid: number): Promise<void> {
    const at = Date.now();
    const claims = this.state.keys.index("claims:");
    const owners = (await this.state.redis.keys(`${claims}*`))
      .map((key) => key.slice(claims.length))
      .filter((worker) => worker.split("-").at(-2) === String(pid));
    for (const worker of owners) {
      for (const run of await this.state.workers.claims(worker)) {
        const found = await this.state.reader.run(run, false);
        if (found?.status !== "running" || found.worker !== worker) continue;
        this.orphaned.push({ runId: run.runId, seq: found.seq, at });
      }
    }
  }

  /** Each run that a killed worker had, and the milliseconds until it was claimed again, where it was. */
  measure(histories: Iterable<RunHistory>): { run: string; ms: number }[] {
    const byRun = new Map([...histories].map((history) => [history.runId, history]));
    return this.orphaned.flatMap(({ runId, seq, at }) => {
      const history = byRun.get(runId);
      const next = history?.events.find(
        (event) => event.type === "status" && event.status === "running" && event.seq > seq,
      );
      if (!history || !next) return [];
      return [{ run: history.plan.label, ms: Math.max(0, Number(next.id.split("-")[0]) - at) }];
    });
  }
}
