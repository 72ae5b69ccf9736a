import { defineAgent, registerOfflineRules } from "@drover/runtime";

registerOfflineRules("one-call", () => ({
  content: "It was filed under travel, and nothing is left to do.",
}));

/** One call of a model, and no tool. */
export const agent = defineAgent({ name: "calls-once", model: "offline:one-call" });
