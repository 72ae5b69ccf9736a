/** A machine for the tests of set-up: nothing installed, nobody at a terminal; notes what it is made to do. */
export function machine(overrides = {}) {
  const ran = [];
  const said = [];
  const programs = new Set();
  return {
    ran,
    said,
    programs,
    env: {},
    platform: "linux",
    nodeVersion: "20.19.0",
    isRoot: true,
    isTerminal: false,
    exists: () => false,
    which: (name) => (programs.has(name) ? `/bin/${name}` : undefined),
    run: async (command, args) => {
      ran.push([command, ...args].join(" "));
      return 0;
    },
    ask: async () => {
      throw new Error("asked without a terminal");
    },
    say: (line) => said.push(line),
    ...overrides,
  };
}
