import { isInterrupted } from "@langchain/langgraph";

/** What a graph's stream told by its end. */
export interface Ended {
  /** The graph's last values. */
  values: Record<string, unknown>;
  /** Whether it stopped to ask. What it asks is read from the state afterwards: the stream tells it too early. */
  interrupted: boolean;
}

/** Reads a stream to its end and hands everything on. Throws what the graph throws. */
export async function follow(
  stream: AsyncIterable<unknown>,
  publish: (mode: string, data: unknown) => void,
): Promise<Ended> {
  const ended: Ended = { values: {}, interrupted: false };
  for await (const part of stream) {
    const [mode, data] = part as [string, unknown];
    publish(mode, data);
    if (mode !== "values") continue;
    if (isInterrupted(data)) ended.interrupted = true;
    else ended.values = data as Record<string, unknown>;
  }
  return ended;
}
