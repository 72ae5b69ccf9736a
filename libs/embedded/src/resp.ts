import { connect } from "node:net";

/** Where a Redis listens on this machine. Without a password no AUTH is sent. */
export interface RedisAddress {
  port: number;
  password?: string;
}

/** What Redis answered with `-…`: it is there, and refuses or cannot yet (`LOADING`, `NOAUTH`, `BUSY`). */
export class RedisReplyError extends Error {
  override readonly name = "RedisReplyError";
}

/**
 * Sends one command over a connection of its own and gives the reply's text; an array is given as its items in
 * lines. Enough for PING, INFO and CLUSTER before a real client is connected, and without its reconnecting.
 * Throws RedisReplyError for an error reply, and the socket's error when nobody answers within `timeoutMs` (2,000).
 */
export function redisCommand(address: RedisAddress, args: string[], timeoutMs = 2_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: address.port, host: "127.0.0.1" });
    const commands = address.password === undefined ? [args] : [["AUTH", address.password], args];
    let received = "";
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new Error(`Redis on port ${address.port} gave no answer within ${timeoutMs} ms.`)),
      timeoutMs,
    );
    socket.on("close", () => {
      clearTimeout(timer);
      reject(new Error(`Redis on port ${address.port} closed the connection.`));
    });
    socket.on("error", fail);
    socket.on("connect", () => socket.write(commands.map(encode).join("")));
    // latin1 keeps one character a byte, so that the lengths in the protocol are string lengths.
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      received += chunk;
      const replies = decode(received);
      const refused = replies.find((reply) => reply instanceof RedisReplyError);
      if (refused instanceof RedisReplyError) return fail(refused);
      const last = replies[commands.length - 1];
      if (typeof last !== "string") return;
      resolve(Buffer.from(last, "latin1").toString("utf8"));
      socket.destroy();
    });
  });
}

function encode(args: string[]): string {
  return `*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join("")}`;
}

type Reply = string | RedisReplyError;

/** The complete replies at the start of `text`. */
function decode(text: string): Reply[] {
  const replies: Reply[] = [];
  for (let at = 0; at < text.length; ) {
    const reply = decodeOne(text, at);
    if (reply === undefined) break;
    replies.push(reply.value);
    at = reply.end;
  }
  return replies;
}

function decodeOne(text: string, start: number): { value: Reply; end: number } | undefined {
  const lineEnd = text.indexOf("\r\n", start);
  if (lineEnd < 0) return undefined;
  const body = text.slice(start + 1, lineEnd);
  const next = lineEnd + 2;
  switch (text[start]) {
    case "-":
      return { value: new RedisReplyError(body), end: next };
    case "$": {
      const end = next + Number(body) + 2;
      if (body === "-1") return { value: "", end: next };
      return text.length < end ? undefined : { value: text.slice(next, end - 2), end };
    }
    case "*": {
      const items: string[] = [];
      let at = next;
      for (let left = Number(body); left > 0; left--) {
        const item = decodeOne(text, at);
        if (item === undefined) return undefined;
        items.push(String(item.value));
        at = item.end;
      }
      return { value: items.join("\n"), end: at };
    }
    default:
      return { value: body, end: next };
  }
}
