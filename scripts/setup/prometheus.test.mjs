import { expect, test } from "vitest";
import { machine } from "./machine.fixture.mjs";
import { findOrUnpackPrometheus, TOOLS } from "./prometheus.mjs";

/** A machine whose apt-get gives the packages from its `nth` try on. */
function debian(nth = 1, overrides = {}) {
  const files = new Set();
  const system = machine({ exists: (file) => files.has(file), ...overrides });
  for (const program of ["apt-get", "dpkg-deb"]) system.programs.add(program);
  let times = 0;
  system.run = async (command, args) => {
    system.ran.push([command, ...args].join(" "));
    if (command !== "sh") return 0;
    if (++times < nth) return 100;
    for (const tool of TOOLS) files.add(`/project/.drover/tools/usr/bin/${tool}`);
    return 0;
  };
  return system;
}

test("what is on the PATH is enough", async () => {
  const system = machine();
  for (const tool of TOOLS) system.programs.add(tool);
  await findOrUnpackPrometheus("/project", system);
  expect(system.ran).toEqual([]);
});

test("packages are unpacked into the project, once, and nothing is installed", async () => {
  const system = debian();
  await findOrUnpackPrometheus("/project", system);
  await findOrUnpackPrometheus("/project", system);
  expect(system.ran).toHaveLength(1);
  expect(system.ran[0]).toMatch(/download prometheus prometheus-alertmanager.*\/project\/\.drover\/tools$/);
  expect(system.ran[0]).not.toContain(" install ");
});

test("old package lists are brought up to date, by root or through sudo that asks nothing", async () => {
  const root = debian(2);
  await findOrUnpackPrometheus("/project", root);
  expect(root.ran[1]).toBe("apt-get update");
  const other = debian(2, { isRoot: false });
  await findOrUnpackPrometheus("/project", other);
  expect(other.ran[1]).toBe("sudo -n apt-get update");
});

test("says what to do where there are no Debian packages, or they cannot be had", async () => {
  await expect(findOrUnpackPrometheus("/project", machine())).rejects.toThrow(/brew install prometheus/);
  await expect(findOrUnpackPrometheus("/project", debian(9))).rejects.toThrow(/exit code 100.*By hand/);
});
