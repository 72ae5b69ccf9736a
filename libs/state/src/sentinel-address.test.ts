import { expect, it } from "vitest";
import { isSentinelUrl, parseSentinelUrl } from "./sentinel-address.js";

it("names Sentinels, the primary, and who asks", () => {
  expect(parseSentinelUrl("redis+sentinel://10.0.0.1,10.0.0.2:26380/main")).toEqual({
    sentinels: [
      { host: "10.0.0.1", port: 26_379 },
      { host: "10.0.0.2", port: 26_380 },
    ],
    ...{ name: "main", db: 0, isEncrypted: false },
  });
  const full = "rediss+sentinel://ada:p%40ss@[::1]:5000/main/3?sentinelPassword=s%26cret";
  expect(parseSentinelUrl(full)).toEqual({
    sentinels: [{ host: "::1", port: 5000 }],
    ...{ name: "main", db: 3, isEncrypted: true },
    ...{ username: "ada", password: "p@ss", sentinelPassword: "s&cret" },
  });
  expect(parseSentinelUrl("redis+sentinel://:only@h/main")).toMatchObject({ password: "only" });
});

it("in another form is refused readably", () => {
  for (const url of [
    "redis+sentinel://",
    "redis+sentinel://h",
    "redis+sentinel://h/",
    "redis+sentinel:h/n",
  ]) {
    expect(() => parseSentinelUrl(url)).toThrow(/redis\+sentinel:\/\/user:password@host/);
  }
  expect(["redis://h", "redis+sentinel://h/n"].map(isSentinelUrl)).toEqual([false, true]);
});
