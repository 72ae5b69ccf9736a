import type { Metrics } from "@drover/telemetry";
import { ModelListener } from "./model-listener.js";
import { modelOfCall } from "./usage-meter.js";

/** Measures when the first token of a streamed answer comes. Only for runs that stream: each token costs a call. */
export class FirstToken extends ModelListener {
  readonly name = "drover.first-token";
  override readonly ignoreAgent = true;
  readonly #asked = new Map<
    string,
    { at: number; labels: { agent: string; model: string; provider: string } }
  >();

  constructor(
    private readonly agent: string,
    private readonly metrics: Pick<Metrics, "observe">,
  ) {
    super();
  }

  protected override modelAsked(runId: string, metadata: Record<string, unknown>): void {
    this.#asked.set(runId, {
      at: performance.now(),
      labels: { agent: this.agent, ...modelOfCall(metadata) },
    });
  }

  override handleLLMNewToken(_token: string, _place: unknown, runId: string): void {
    const asked = this.#asked.get(runId);
    if (!asked) return;
    this.#asked.delete(runId);
    this.metrics.observe(
      "drover_model_first_token_seconds",
      asked.labels,
      (performance.now() - asked.at) / 1000,
    );
  }

  override handleLLMEnd(_output: unknown, runId: string): void {
    this.#asked.delete(runId);
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#asked.delete(runId);
  }
}
