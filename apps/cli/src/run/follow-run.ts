import type { Run, RunEvent } from "@drover/contracts";
import type { RunHandle } from "@drover/queue";
import type { Cli } from "../cli.js";
import { count } from "../output/format.js";
import { type Output, paintStatus } from "../output/output.js";
import { brief, fit, oneLine } from "../output/text.js";

export interface FollowRunOptions {
  signal: AbortSignal;
  /** An event's id; reading begins after it. Default: from the first. */
  since?: string | undefined;
  /** Whether to come back when the run waits for a person. */
  stopAtInterrupt: boolean;
}

/**
 * Prints a run's events as they come, until it ends or the signal fires: with --json one event a line, else the
 * model's text as it is written, and what happens beside it on standard error. Gives the run as it is then.
 */
export async function followRun({ out }: Cli, handle: RunHandle, options: FollowRunOptions): Promise<Run> {
  const printer = new EventPrinter(out);
  const { since, signal } = options;
  for await (const event of handle.events({ signal, ...(since === undefined ? {} : { since }) })) {
    out.value(event);
    printer.print(event);
    if (options.stopAtInterrupt && event.type === "status" && event.status === "interrupted") break;
  }
  printer.end();
  return handle.status();
}

class EventPrinter {
  private midLine = false;

  constructor(private readonly out: Output) {}

  print(event: RunEvent): void {
    switch (event.type) {
      case "messages":
        this.out.write(event.text);
        this.midLine = !event.text.endsWith("\n");
        break;
      case "status":
        this.note(statusInWords(event, this.out));
        break;
      case "updates":
        this.note(`${event.node}  ${updateInBrief(event.data)}`.trimEnd());
        break;
      case "custom":
        this.note(`custom  ${fit(brief(event.data), 100)}`);
        break;
    }
  }

  end(): void {
    if (this.midLine && !this.out.json) this.out.write("\n");
    this.midLine = false;
  }

  private note(text: string): void {
    this.end();
    if (!this.out.json) this.out.note(this.out.noteColours.dim(text));
  }
}

/** The last message of an update: its text and the tools that it calls; anything else as JSON. */
function updateInBrief(data: unknown): string {
  const { messages } = (data ?? {}) as { messages?: unknown };
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (typeof last !== "object" || last === null) {
    const json = brief(data);
    return json === "{}" ? "" : fit(json, 100);
  }
  const { content, tool_calls: calls } = last as { content?: unknown; tool_calls?: { name?: unknown }[] };
  const names = (Array.isArray(calls) ? calls : []).map(({ name }) => String(name));
  return [fit(brief(content), 80), names.length > 0 ? `calls ${names.join(", ")}` : ""]
    .filter(Boolean)
    .join("  ");
}

function statusInWords(event: Extract<RunEvent, { type: "status" }>, out: Output): string {
  const error = event.error ? `  ${event.error.code}: ${oneLine(event.error.message)}` : "";
  const attempt = event.attempt > 1 ? `  (attempt ${count(event.attempt)})` : "";
  return `${paintStatus(event.status, out.noteColours)}${attempt}${error}`;
}
