/** Runs `act` again and again, `ms` after it last ended. */
export function repeat(
  ms: number,
  act: () => Promise<void>,
  onError: (error: unknown) => void,
): { stop: () => Promise<void> } {
  let stopped = false;
  let wake: () => void = () => {};
  const loop = (async () => {
    while (!stopped) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (stopped) return;
      await act().catch(onError);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      wake();
      await loop;
    },
  };
}
