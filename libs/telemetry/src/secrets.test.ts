import { describe, expect, it } from "vitest";
import { hideSecrets, isSecretName } from "./secrets.js";

describe("hideSecrets", () => {
  it.each([
    ["redis://user:hunter2hunter2@redis.internal:6379/0", "redis://[secret]@redis.internal:6379/0"],
    ["rediss://:p@ss/wo#rd@host:6380", "rediss://[secret]@host:6380"],
    ["Authorization: Bearer abc.def.ghi", "Authorization: [secret]"],
    ['{"authorization":"Basic dXNlcjpwYXNz"}', '{"authorization":"[secret]"}'],
    ["sent bearer abcdefgh12345678 along", "sent bearer [secret] along"],
    ["GET /v1?api_key=abc123&page=2", "GET /v1?api_key=[secret]&page=2"],
    ["OPENAI_API_KEY=local-key-1 is wrong", "OPENAI_API_KEY=[secret] is wrong"],
    ["x-api-key: abc", "x-api-key: [secret]"],
    ["password = 'opensesame'", "password = '[secret]'"],
    ["Incorrect key sk-ant-api03-aBcDeFgHiJkL given", "Incorrect key [secret] given"],
    ["key sk-proj-abcdefghijkl0123", "key [secret]"],
    ["google AIzaSyA1234567890abcdefghijklmnopqrstuv", "google [secret]"],
    ["aws AKIAIOSFODNN7EXAMPLE", "aws [secret]"],
    ["jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_def", "jwt [secret]"],
    ["Cookie: a=1; session=abcdef", "Cookie: [secret]"],
  ])("hides the secret in %s", (text, expected) => {
    expect(hideSecrets(text)).toBe(expected);
  });

  it("hides a private key, also one that was cut off", () => {
    const begin = "-----BEGIN RSA PRIVATE KEY-----";
    expect(hideSecrets(`${begin}\nMIIEabc\n-----END RSA PRIVATE KEY-----\nafter`)).toBe(
      `${begin}[secret]\nafter`,
    );
    expect(hideSecrets(`${begin}\nMIIEabc`)).toBe(`${begin}[secret]`);
  });

  it("hides known values in any form, also escaped for a URL", () => {
    expect(hideSecrets("with pa$$ word! and pa%24%24%20word! there", ["pa$$ word!"])).toBe(
      "with [secret] and [secret] there",
    );
    expect(hideSecrets("an abc of it", ["abc"])).toBe("an abc of it");
  });

  it.each([
    "The run took 120 tokens: 100 in, 20 out.",
    "Set OPENAI_API_KEY in the worker's environment.",
    "https://example.com/docs/errors.md#missing_api_key",
    "reached redis://127.0.0.1:6379",
    "task-a1b2c3d4e5f6a7b8",
  ])("leaves %s alone", (text) => {
    expect(hideSecrets(text)).toBe(text);
  });

  it("stays fast on hostile text", () => {
    const hostile = [`${"a".repeat(8192)}`, "a://".repeat(4096), "token ".repeat(2048), "eyJa".repeat(4096)];
    const start = performance.now();
    for (const text of hostile) hideSecrets(text);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe("isSecretName", () => {
  it.each(["authorization", "apiKey", "X-API-Key", "password", "clientSecret", "accessToken", "set-cookie"])(
    "knows %s",
    (name) => expect(isSecretName(name)).toBe(true),
  );
  it.each(["tokens", "inputTokens", "runId", "agent", "monkey"])("lets %s pass", (name) =>
    expect(isSecretName(name)).toBe(false),
  );
});
