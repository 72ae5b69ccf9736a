import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Notice, runRequestSchema } from "@drover/contracts";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "./public-address.js";
import { parseServiceKeys } from "./service-keys.js";
import { postWebhook } from "./webhook-request.js";

const keys = parseServiceKeys("webhook=0123456789abcdef");
const notice = { v: 1, id: "n", type: "request.admitted" } as unknown as Notice;
const post = (url: string, allowPrivate = false) =>
  postWebhook({ url, key: "webhook" }, notice, { keys, allowPrivate });

describe("addresses of private networks", () => {
  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "::1",
    "::",
    "fe80::1",
    "fd00::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "nonsense",
  ])("%s is not public", (address) => expect(isPublicAddress(address)).toBe(false));

  it.each(["8.8.8.8", "172.32.0.1", "2606:4700::1111"])("%s is", (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  it("are not called, however they are written, and nobody hears of it", async () => {
    let calls = 0;
    const receiver = createServer((_, response) => {
      calls += 1;
      response.writeHead(calls === 1 ? 302 : 200, { location: "/elsewhere" }).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, resolve));
    const { port } = receiver.address() as AddressInfo;
    for (const host of [
      "127.0.0.1",
      "localhost",
      "2130706433",
      "0x7f.1",
      "127.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
    ]) {
      await expect(post(`http://${host}:${port}/`), host).rejects.toThrow(/public internet/);
    }
    expect(calls).toBe(0);
    await expect(post(`http://127.0.0.1:${port}/`, true)).rejects.toThrow("status 302");
    await post(`http://127.0.0.1:${port}/`, true);
    expect(calls).toBe(2);
    receiver.close();
  });
});

it("a request's webhook has no password, and its reply queue is not Drover's own", () => {
  const parse = (over: object) => runRequestSchema.safeParse({ agent: "a", input: "x", ...over }).success;
  expect(parse({ webhook: { url: "https://example.com/x" }, replyTo: "billing" })).toBe(true);
  for (const url of ["https://a:b@example.com", "ftp://example.com", "javascript:1", "x"]) {
    expect(parse({ webhook: { url } }), url).toBe(false);
  }
  for (const replyTo of ["runs", "inbox", "webhooks", "a:b", "{x}", "1", ""]) {
    expect(parse({ replyTo }), replyTo).toBe(false);
  }
});

it("service keys are read, a second one of a name too, and bad ones are named without their text", () => {
  const text = " a=0123456789abcdef , a=fedcba9876543210,b@acme=with=equals=signs";
  expect([...parseServiceKeys(text)]).toEqual([
    ["a", { tenant: null, secrets: ["0123456789abcdef", "fedcba9876543210"] }],
    ["b", { tenant: "acme", secrets: ["with=equals=signs"] }],
  ]);
  for (const text of ["a", "a=short", "=0123456789abcdef", "a=0123456789abcdef,a@acme=0123456789abcdef"]) {
    expect(() => parseServiceKeys(text)).toThrow(/DROVER_SERVICE_KEYS/);
    expect(() => parseServiceKeys(text)).not.toThrow(/short/);
  }
});
