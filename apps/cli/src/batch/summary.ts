import { count, counted, dollars, duration, rate, tokensOf } from "../output/format.js";
import { type Output, paintStatus } from "../output/output.js";
import { doneOf } from "../output/progress.js";
import { brief, oneLine } from "../output/text.js";
import type { Estimate } from "./estimate.js";
import type { ResultLine } from "./result-line.js";
import type { BatchReport } from "./run-batch.js";
import type { FailureGroup } from "./tally.js";
import type { WaitingRun } from "./waiting.js";

const MOST_WAITING = 10;

/** The totals of a batch that was followed to its end. */
export function printTotals(out: Output, report: BatchReport): void {
  const { batch, tally, ms } = report;
  const { counts, usage } = batch;
  const { colours } = out;
  const documents = batch.total + tally.refused;
  const done = doneOf({ batch, refused: tally.refused });
  const failed = counts.error + counts.timeout + tally.refused;
  const parts = [
    colours.green(`${count(counts.success)} success`),
    counts.interrupted > 0 ? colours.yellow(`${count(counts.interrupted)} waiting for a person`) : "",
    failed > 0 ? colours.red(`${count(failed)} failed`) : "",
    counts.cancelled > 0 ? `${count(counts.cancelled)} cancelled` : "",
    counts.pending + counts.running > 0 ? `${count(counts.pending + counts.running)} still to run` : "",
  ];
  out.line(
    `${colours.bold(`Batch ${batch.batchId}`)}: ${counted(documents, "document")}, ${parts.filter(Boolean).join(", ")}`,
  );
  const price = dollars(usage);
  out.line(
    [
      `${duration(ms)}${done > 0 && ms > 0 ? ` (${rate((done / ms) * 1000)})` : ""}`,
      counted(tokensOf(usage), "token"),
      counted(usage.modelCalls, "model call"),
      counted(usage.toolCalls, "tool call"),
      ...(price ? [price] : []),
    ].join(", "),
  );
}

/** One row for each document: a bounded number of them. */
export function printRows(out: Output, lines: readonly ResultLine[], common = ""): void {
  out.table(
    [
      { head: "Document", least: 14, keep: "end" },
      { head: "Status", least: 11 },
      { head: "Result", least: 12 },
      { head: "Ended by", least: 9 },
      { head: "Tokens", align: "right" },
    ],
    lines.map((line) => [
      nameOf(line, common),
      line.status,
      resultInBrief(line),
      line.endedBy ?? "",
      line.runId === null ? "" : count(line.tokens),
    ]),
    (text, column, _, colours) => (column === 1 ? paintStatus(text, colours) : text),
  );
}

/** What failed and why, the reasons once each. */
export function printFailures(out: Output, groups: readonly FailureGroup[], common = ""): void {
  if (groups.length === 0) return;
  out.line();
  out.line(out.colours.bold("What failed and why"));
  for (const { code, count: n, examples } of groups) {
    out.line(`  ${out.colours.red(code)}${n > 1 ? `, ${count(n)} times` : ""}`);
    for (const { document, message } of examples) {
      const name = nameOf({ document }, common);
      // A reader's message begins with the document's name.
      out.line(`    ${name}: ${oneLine(message.replace(`${document}: `, ""))}`);
    }
    if (n > examples.length) out.line(`    and ${count(n - examples.length)} more`);
  }
}

/** What waits for a person, with what to type. */
export function printWaiting(
  out: Output,
  waiting: readonly WaitingRun[],
  invocation: string,
  common = "",
): void {
  if (waiting.length === 0) return;
  out.line();
  out.line(out.colours.bold("What waits for a person"));
  for (const { run, approvals } of waiting.slice(0, MOST_WAITING)) {
    for (const approval of approvals) {
      const asked = approval.actions?.map((a) => a.description || `${a.name} ${brief(a.args)}`).join("; ");
      out.line(
        `  ${nameOf({ document: run.document ?? run.runId }, common)}: ${oneLine(asked ?? brief(approval.value))}`,
      );
      out.line(
        `    ${invocation} approvals ${approval.actions ? "approve" : "respond"} ${approval.approvalId}`,
      );
    }
  }
  if (waiting.length > MOST_WAITING) {
    out.line(`  and ${count(waiting.length - MOST_WAITING)} more: ${invocation} approvals list`);
  }
  const isAboutTools = waiting.some(({ approvals }) => approvals.some(({ actions }) => actions !== null));
  if (isAboutTools) out.line(`  Other answers: ${invocation} approvals reject --help, or edit`);
}

export function printEstimate(
  out: Output,
  { documents, ms, tokens, dollars: price, isFasterAtScale }: Estimate,
) {
  const parts = [
    `about ${duration(ms)}${isFasterAtScale ? " or less (the trial was too small to use all workers)" : ""}`,
    `about ${counted(tokens, "token")}`,
    price === null ? "no price known" : `about $${price.toFixed(2)}`,
  ];
  out.line();
  out.line(`${out.colours.bold(`The other ${counted(documents, "document")}`)}: ${parts.join(", ")}`);
}

/** The folder that all names have in common, with its slash. */
export function commonFolder(names: readonly string[]): string {
  let common = names[0]?.slice(0, names[0].lastIndexOf("/") + 1) ?? "";
  for (const name of names) {
    while (!name.startsWith(common)) common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1);
  }
  return common;
}

function nameOf({ document }: Pick<ResultLine, "document">, common: string): string {
  return oneLine(document?.startsWith(common) ? document.slice(common.length) : (document ?? ""));
}

/** A result at a glance: an object's first text and first number, an error's code. */
export function resultInBrief({
  output,
  error,
  status,
}: Pick<ResultLine, "output" | "error" | "status">): string {
  if (error) return error.code;
  if (status === "interrupted") return "waits for a person";
  if (typeof output !== "object" || output === null || Array.isArray(output)) return brief(output);
  const values: unknown[] = Object.values(output);
  const text = values.find((value) => typeof value === "string");
  const number = values.find((value) => typeof value === "number");
  const shown = [text, number].filter((value) => value !== undefined);
  return shown.length > 0 ? shown.map((value) => brief(value)).join(", ") : brief(output);
}
