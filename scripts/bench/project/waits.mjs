import { defineAgent } from "@drover/runtime";
import { FakeListChatModel } from "@langchain/core/utils/testing";

/** As long as a model takes that has something to say. */
const MODEL_MS = 2000;

/** One call of a model that takes its time and no processor's. */
export const agent = defineAgent({
  name: "waits",
  model: new FakeListChatModel({ responses: ["It was filed."], sleep: MODEL_MS }),
});
