import { agents } from "./agents.js";
import { approvals } from "./approvals.js";
import { fleet } from "./fleet.js";
import type { DashboardSpec } from "./panel.js";
import { queue } from "./queue.js";

/** Every dashboard, in the order in which an operator looks at them. */
export const DASHBOARDS: readonly DashboardSpec[] = [fleet, agents, approvals, queue];
