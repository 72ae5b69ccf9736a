/**
 * The refs of a thread: numbers of bodies, 4 bytes each, append-only. An array of bodies is a few ranges of it, so
 * that a list and the same list with one more message share all but the last number, and so do the copies of the
 * list in Sends.
 */
export class Refs {
  readonly #numbers: number[] = [];
  readonly #lastAt = new Map<number, number>();

  get length(): number {
    return this.#numbers.length;
  }

  append(number: number): void {
    this.#lastAt.set(number, this.#numbers.length);
    this.#numbers.push(number);
  }

  slice(from: number, count: number): number[] {
    return this.#numbers.slice(from, from + count);
  }

  /** What was appended since `from`, as stored. */
  bytes(from: number): Buffer {
    const bytes = Buffer.alloc((this.#numbers.length - from) * 4);
    for (let i = from; i < this.#numbers.length; i += 1) {
      bytes.writeUInt32BE(this.#numbers[i] as number, (i - from) * 4);
    }
    return bytes;
  }

  /** Ranges `[at, count, …]` that give the list, appending what no range has. */
  place(list: readonly number[]): number[] {
    const ranges = this.#find(list);
    const flat = ranges.length > 2 * MOST_RANGES;
    const placed: number[] = [];
    let from = 0;
    for (const [at, count] of flat ? [[-1, list.length] as const] : pairs(ranges)) {
      const start = at === -1 ? this.length : at;
      if (at === -1) for (const number of list.slice(from, from + count)) this.append(number);
      const last = placed.length - 2;
      if (last >= 0 && at === -1 && (placed[last] ?? 0) + (placed[last + 1] ?? 0) === start) {
        placed[last + 1] = (placed[last + 1] ?? 0) + count;
      } else placed.push(start, count);
      from += count;
    }
    return placed;
  }

  /** Ranges in order; one with the start -1 is new. */
  #find(list: readonly number[]): number[] {
    const ranges: number[] = [];
    let i = 0;
    while (i < list.length) {
      const at = this.#lastAt.get(list[i] as number);
      let count = 1;
      if (at === undefined) {
        while (i + count < list.length && !this.#lastAt.has(list[i + count] as number)) count += 1;
      } else {
        while (i + count < list.length && this.#numbers[at + count] === list[i + count]) count += 1;
      }
      ranges.push(at ?? -1, count);
      i += count;
    }
    return ranges;
  }
}

/** A list that is in more pieces than this is written anew. */
const MOST_RANGES = 12;

/** Runs `[first, count, …]` of consecutive numbers. */
export function runsOf(list: readonly number[], most: number): number[] | undefined {
  const runs: number[] = [];
  for (const number of list) {
    const last = runs.length - 2;
    if (last >= 0 && (runs[last] ?? 0) + (runs[last + 1] ?? 0) === number) {
      runs[last + 1] = (runs[last + 1] ?? 0) + 1;
    } else if (runs.length === 2 * most) return undefined;
    else runs.push(number, 1);
  }
  return runs;
}

export function* pairs(flat: readonly number[]): Generator<[number, number]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] as number, flat[i + 1] as number];
}
