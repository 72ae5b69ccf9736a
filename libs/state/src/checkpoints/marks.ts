/**
 * The JSON that checkpoints are stored as. Plain values stand for themselves; an object with the key `$` is one of
 * these marks. A user's own object that has a key `$` is wrapped in `object`.
 *
 *   b  {v: n}                 the value of body n
 *   l  {v: [n, count, …]}     an array: the values of bodies, by runs of numbers
 *   L  {v: [at, count, …]}    an array: the same by ranges of the thread's refs
 *   c  {v: array, t: array}   an array in chunks: the chunks' elements, then those of t
 *   m  {t, k}                 a LangChain message: class and constructor fields
 *   i  {v: [n, id]}           the message of body n with another id
 *   u  undefined · n {v} a number that JSON lacks · N {v} bigint · D {v: ms} Date · M {v: entries} Map · S {v} Set
 *   e  {n, v} Error · r {v, f} RegExp · y {t, v: base64} typed array · d {v} DeltaSnapshot
 *   lc {v} any other LangChain object, by its own serialisation · o {v} an object that has the key `$`
 */
export interface Mark {
  $: string;
  v?: unknown;
  t?: unknown;
  k?: unknown;
  n?: unknown;
  f?: unknown;
}

export function isMark(value: object): value is Mark {
  return Object.hasOwn(value, "$");
}
