/** What a panel shows, and what its reader does about it. */
export interface PanelSpec {
  title: string;
  /** What it shows, in a sentence. */
  shows: string;
  /** When it has nothing to show, where that is no fault; a sentence. Queries of what is 0 then say 0 instead. */
  emptyWhile?: string;
  /** What to do when it looks wrong. */
  act: string;
  /** What lists the runs, approvals or workers behind it: a command of `drover`. */
  command: string;
  queries: readonly Query[];
  kind: "stat" | "lines" | "bars" | "table";
  /** One of Grafana's units. Default `short`. */
  unit?: string;
  /** The value from which it is red; below it stays green. */
  redFrom?: number;
  /** The value up to which it is red, for what should be high. */
  redUpTo?: number;
}

export interface Query {
  expr: string;
  /** Default: the labels as Prometheus writes them. */
  legend?: string;
}

export interface RowSpec {
  title: string;
  panels: readonly PanelSpec[];
}

export interface DashboardSpec {
  /** File name and address: grafana/dashboards/<uid>.json, /d/<uid>. */
  uid: string;
  title: string;
  /** The question that it answers. */
  question: string;
  variables: readonly Variable[];
  rows: readonly RowSpec[];
}

/** A choice at the top of a dashboard: the values of a label. */
export type Variable = "agent" | "tenant" | "model";

/** A rate over Grafana's own window for the zoom at hand. */
export const rate = (series: string): string => `rate(${series}[$__rate_interval])`;
/** How often in the window that the dashboard shows. */
export const inRange = (series: string): string => `increase(${series}[$__range])`;
export const quantile = (q: number, histogram: string, by = "", match = ""): string =>
  `histogram_quantile(${q}, sum by (${by ? `${by}, ` : ""}le) (${rate(`${histogram}_bucket${match}`)}))`;
/** A number that is 0, and not unknown, while nothing of it has happened. */
export const orZero = (expr: string): string => `${expr} or vector(0)`;
/** Parts of a whole; of nothing, while nothing happened, there is none. */
export const share = (part: string, whole: string): string => `(${part}) / ((${whole}) > 0)`;

export const AGENT = '{agent=~"$agent"}';
/** A match of the chosen agents, and more. */
export const ofAgent = (more: string): string => `{agent=~"$agent", ${more}}`;
export const MODEL = '{agent=~"$agent", model=~"$model"}';
export const ofModel = (more: string): string => `{agent=~"$agent", model=~"$model", ${more}}`;
