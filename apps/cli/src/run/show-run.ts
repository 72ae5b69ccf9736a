import type { Run } from "@drover/contracts";
import type { WaitReason } from "@drover/queue";
import { EXIT, type ExitCode } from "../exit-codes.js";
import { ago, count, counted, dollars, duration, moment, tokensOf } from "../output/format.js";
import { type Output, paintStatus } from "../output/output.js";
import { oneLine } from "../output/text.js";

/** Everything about a run, for people or as JSON; with what it waits for, if it does. */
export function printRun(out: Output, run: Run, waitsFor: WaitReason | null = null): void {
  out.value({ ...run, waitsFor });
  const { usage } = run;
  const took = run.startedAt && run.finishedAt ? `, took ${duration(run.finishedAt - run.startedAt)}` : "";
  out.fields([
    ["run", run.runId],
    ["status", statusInWords(out, run)],
    ["waits for", waitsFor && waitInWords(waitsFor)],
    ["error", run.error && out.colours.red(`${run.error.code}: ${oneLine(run.error.message)}`)],
    ["cancelled", run.cancelReason && oneLine(run.cancelReason)],
    ["approvals", run.approvals.join(", ")],
    ["agent", `${run.agent}${run.agentVersion ? `, version ${run.agentVersion}` : ""}`],
    ["thread", oneLine(run.threadId)],
    ["batch", run.batchId],
    ["document", run.document && oneLine(run.document)],
    [
      "attempt",
      `${run.attempt}${run.crashes > 0 ? ` (its worker died or stood still ${counted(run.crashes, "time")})` : ""}`,
    ],
    ["activation", `${run.seq} (${run.kind})`],
    ["worker", run.worker],
    ["tags", run.tags.join(", ")],
    ["metadata", Object.keys(run.metadata).length > 0 ? JSON.stringify(run.metadata) : ""],
    ["used", usageInWords(run)],
    ["price", dollars(usage)],
    ["accepted", `${moment(run.createdAt)} (${ago(run.createdAt)})`],
    ["started", moment(run.startedAt)],
    ["finished", run.finishedAt ? `${moment(run.finishedAt)}${took}` : ""],
    ["deadline", moment(run.deadlineAt)],
  ]);
  if (run.output !== null) {
    out.line();
    printOutput(out, run.output);
  }
}

/** What keeps a run from being worked on. */
export function waitInWords(reason: WaitReason): string {
  switch (reason.what) {
    case "thread":
      return `run ${reason.behind} of its thread${reason.ahead > 1 ? ` and ${counted(reason.ahead - 1, "run")} more` : ""}`;
    case "delay":
      return `its time, ${moment(reason.until)}`;
    case "concurrency": {
      const { kind, name, limit, held, ahead } = reason;
      const whose = kind === "key" ? "concurrency key" : kind;
      return `a share of ${whose} '${oneLine(name)}': ${held} of ${limit} run, ${counted(ahead, "run")} before it`;
    }
    case "paused":
      return `the end of a pause (${reason.scope === "all" ? "everything" : reason.scope.replace(":", " ")})`;
    case "agent":
      return `a worker that has the agent '${reason.agent}': none does`;
    case "queue":
      return `a free worker: ${counted(reason.waiting, "run")} on the queue`;
  }
}

/** A text as it is, without what a terminal obeys; anything else as indented JSON. */
export function printOutput(out: Output, output: unknown): void {
  const text = typeof output === "string" ? output : JSON.stringify(output, null, 2);
  out.line(text.split("\n").map(keepSpaces).join("\n"));
}

function keepSpaces(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal must not obey what a model says
  return line.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

function statusInWords(out: Output, { status, endedBy }: Run): string {
  const ended = endedBy && endedBy !== status && endedBy !== "interrupt" ? `, ended by ${endedBy}` : "";
  return `${paintStatus(status, out.colours)}${ended}`;
}

function usageInWords({ usage }: Run): string {
  const tokens = `${counted(tokensOf(usage), "token")} (${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out)`;
  return [tokens, counted(usage.modelCalls, "model call"), counted(usage.toolCalls, "tool call")].join(", ");
}

/** What a command that waited for a run ends with. */
export function exitCodeOfRun({ status }: Run): ExitCode {
  if (status === "success") return EXIT.ok;
  return status === "interrupted" ? EXIT.waiting : EXIT.failed;
}
