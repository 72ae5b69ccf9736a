/** The series of a scrape, by name and labels as Prometheus writes them: `drover_runs_total{agent="a",outcome="success"}`. */
export type Scrape = ReadonlyMap<string, number>;

export async function scrape(url: string): Promise<Scrape> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line): [string, number] => {
        const space = line.lastIndexOf(" ");
        return [line.slice(0, space), Number(line.slice(space + 1))];
      }),
  );
}

/** The sum of a metric's series over all scrapes; only of those that have the labels. */
export function sumOf(scrapes: readonly Scrape[], name: string, labels: Record<string, string> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  let sum = 0;
  for (const one of scrapes) {
    for (const [series, value] of one) {
      const [found = "", rest = ""] = series.split("{");
      if (found === name && wanted.every((pair) => rest.includes(pair))) sum += value;
    }
  }
  return sum;
}

/** Whether a scrape has any series of the metric. */
export const exports = (one: Scrape, name: string): boolean =>
  [...one.keys()].some((series) => series === name || series.startsWith(`${name}{`));
