/** The lowest of the numbers that are given; undefined where none is. */
export function least(...values: (number | undefined)[]): number | undefined {
  const given = values.filter((value) => value !== undefined);
  return given.length > 0 ? Math.min(...given) : undefined;
}
