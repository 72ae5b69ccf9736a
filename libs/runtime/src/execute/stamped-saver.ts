import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
} from "@langchain/langgraph";
import type { StepClock } from "./step-clock.js";

type Config = Parameters<BaseCheckpointSaver["getTuple"]>[0];
type ListOptions = Parameters<BaseCheckpointSaver["list"]>[1];
type Put = Parameters<BaseCheckpointSaver["put"]>;
type PutWrites = Parameters<BaseCheckpointSaver["putWrites"]>;

/** What is written on every checkpoint of a run. `run_id` decides whether the run's input was taken already. */
export interface Stamp {
  run_id: string;
  agent: string;
  agent_version: string;
}

/** A saver that stamps what it stores: LangGraph keeps a run's metadata to itself. Everything else is the saver's. */
export class StampedSaver extends BaseCheckpointSaver {
  readonly #saver: BaseCheckpointSaver;
  readonly #stamp: Stamp;
  readonly #clock: StepClock;

  constructor(saver: BaseCheckpointSaver, stamp: Stamp, clock: StepClock) {
    super(saver.serde);
    this.#saver = saver;
    this.#stamp = stamp;
    this.#clock = clock;
  }

  override async put(
    config: Put[0],
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: Put[3],
  ): ReturnType<BaseCheckpointSaver["put"]> {
    const endsStep = (config.configurable?.checkpoint_ns ?? "") === "";
    if (endsStep) this.#clock.pause();
    const put = await this.#saver.put(config, checkpoint, { ...metadata, ...this.#stamp }, newVersions);
    if (endsStep) this.#clock.begin();
    return put;
  }

  override putWrites(...args: PutWrites): Promise<void> {
    return this.#saver.putWrites(...args);
  }

  override getTuple(config: Config): Promise<CheckpointTuple | undefined> {
    return this.#saver.getTuple(config);
  }

  override list(config: Config, options?: ListOptions): AsyncGenerator<CheckpointTuple> {
    return this.#saver.list(config, options);
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#saver.deleteThread(threadId);
  }

  override getNextVersion(current: Parameters<BaseCheckpointSaver["getNextVersion"]>[0]) {
    return this.#saver.getNextVersion(current);
  }

  override getDeltaChannelHistory(...args: Parameters<BaseCheckpointSaver["getDeltaChannelHistory"]>) {
    return this.#saver.getDeltaChannelHistory(...args);
  }
}
