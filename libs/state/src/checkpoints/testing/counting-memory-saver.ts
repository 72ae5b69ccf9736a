import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type Checkpoint,
  type CheckpointMetadata,
  MemorySaver,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";

/**
 * Counts the bytes that MemorySaver serialises. Forgets all but the newest checkpoint, since it would need gigabytes
 * for a long thread.
 */
export class CountingMemorySaver extends MemorySaver {
  bytes = 0;

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    this.storage = Object.create(null);
    const result = await super.put(config, checkpoint, metadata);
    for (const [serialised, about] of Object.values(this.storage.t?.[""] ?? {})) {
      this.bytes += serialised.length + about.length;
    }
    return result;
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    this.writes = Object.create(null);
    await super.putWrites(config, writes, taskId, taskPath);
    for (const of of Object.values(this.writes)) {
      for (const [, , serialised] of Object.values(of)) this.bytes += serialised.length;
    }
  }
}
