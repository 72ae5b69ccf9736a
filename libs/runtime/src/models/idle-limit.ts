/**
 * The provider clients' own timeout ends when the response's headers arrive: a body that stops in the middle would
 * hold its run for as long as the connection lives. This one also limits each pause within the body.
 *
 * The error must not be an AbortError: both clients take that for the caller's own wish, end the stream without a
 * word, and half an answer looks like a whole one.
 */
export function fetchWithIdleLimit(limitMs: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(limitPauses(response.body, limitMs), { status, statusText, headers });
  };
}

function limitPauses(body: ReadableStream<Uint8Array>, limitMs: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let timer: NodeJS.Timeout | undefined;
        const pause = new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(new PauseError(limitMs)), limitMs);
        });
        try {
          const { done, value } = await Promise.race([reader.read(), pause]);
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
          // Closes the connection; the reader's own failure was reported above.
          await reader.cancel(error).catch(() => undefined);
        } finally {
          clearTimeout(timer);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

class PauseError extends Error {
  override readonly name = "TimeoutError";
  constructor(limitMs: number) {
    super(`The answer stopped for ${limitMs} ms and timed out.`);
  }
}
