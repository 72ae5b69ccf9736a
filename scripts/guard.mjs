/**
 * Runs `main` and sets the exit code that it gives. However this process ends, it says why: a failure that nobody waited
 * for, an event loop that ran empty, a signal.
 */
export function guarded(name, main) {
  let isOver = false;
  const fail = (why, code = 1) => {
    if (isOver) return;
    isOver = true;
    console.error(`${name}: ${why}`);
    process.exit(code);
  };
  process.on("uncaughtException", (error) => fail(error?.stack ?? error));
  process.on("unhandledRejection", (error) =>
    fail(`a failure that nobody waited for: ${error?.stack ?? error}`),
  );
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => fail(`ended by ${signal}`));
  process.on("exit", (code) => {
    if (!isOver)
      console.error(`${name}: ended before it was done, with ${code}: nothing was left to wait for`);
    if (!isOver && code === 0) process.exitCode = 1;
  });
  return main().then(
    (code) => {
      isOver = true;
      process.exitCode = code;
    },
    (error) => fail(error?.stack ?? error),
  );
}
