import { expect, test } from "vitest";
import { checkNodeVersion } from "./node-version.mjs";

test.each(["20.19.0", "20.20.2", "22.0.0", "24.11.1"])("Node %s will do", (version) => {
  expect(() => checkNodeVersion(version)).not.toThrow();
});

test.each(["18.20.4", "20.18.3", "8.17.0"])("Node %s is told what is needed", (version) => {
  expect(() => checkNodeVersion(version)).toThrow(`needs Node 20.19 or later; this is ${version}`);
});
