import type { AgentRegistry } from "@drover/runtime";

/** The model of an agent of this project as it is written: `offline:receipts`; null where it isn't known here. */
export function modelOf(name: string, agents: AgentRegistry | null): string | null {
  const model = agents?.list().find((agent) => agent.name === name)?.definition?.model;
  if (typeof model === "string") return model;
  return typeof model === "object" && "model" in model && typeof model.model === "string"
    ? model.model
    : null;
}

/** Said wherever results of the offline model are shown; null for real models. */
export function offlineNotice(model: string | null): string | null {
  if (!model?.startsWith("offline:")) return null;
  return `The model is ${model}: rules, not a language model. Everything else is real.`;
}
