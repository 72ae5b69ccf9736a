import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Where bytes become what is stored, and back: the place for encryption. */
export interface Codec {
  encode(plain: Buffer): Buffer;
  decode(stored: Buffer): Buffer;
}

/** Texts from this many characters on are deflated. Below it loading takes longer and little is won. */
const DEFLATED_FROM = 4096;
const DEFLATED = 1;

/** A text as it is stored: deflated if that makes it smaller by a fifth, then encoded. */
export function pack(text: string, codec: Codec | undefined): string | Buffer {
  const small = text.length < DEFLATED_FROM ? text : deflated(text);
  return codec === undefined ? small : codec.encode(typeof small === "string" ? Buffer.from(small) : small);
}

export function unpack(stored: Buffer, codec: Codec | undefined): string {
  const plain = codec === undefined ? stored : codec.decode(stored);
  return plain[0] === DEFLATED ? inflateRawSync(plain.subarray(1)).toString() : plain.toString();
}

function deflated(text: string): string | Buffer {
  const plain = Buffer.from(text);
  const small = deflateRawSync(plain, { level: 1 });
  return small.length < plain.length * 0.8 ? Buffer.concat([Buffer.of(DEFLATED), small]) : text;
}
