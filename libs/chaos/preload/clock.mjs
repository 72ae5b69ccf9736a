/** Shifts the clock of the process that imports it by DROVER_CHAOS_CLOCK_MS milliseconds. Monotonic clocks are left alone. */
const offset = Number(process.env.DROVER_CHAOS_CLOCK_MS ?? 0);
const now = Date.now.bind(Date);

if (offset !== 0) {
  Date.now = () => now() + offset;
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now() + offset] : args, newTarget),
    apply: () => new Date(now() + offset).toString(),
  });
}
