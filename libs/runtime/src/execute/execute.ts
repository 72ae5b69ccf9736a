import type { Activation, InterruptQuestion, Outcome } from "@drover/contracts";
import type { CompiledGraph } from "../agent/compiled-graph.js";
import { type LoadedAgent, piiRulesOf } from "../load/loaded-agent.js";
import { termsFor, termsOfQuestion } from "../policy/approval-rules.js";
import { outcomeOfError } from "./classify.js";
import { type ComposedRun, compose } from "./compose.js";
import { publisher } from "./events.js";
import { type Ended, follow } from "./follow.js";
import { loadInput } from "./input.js";
import { resultOf } from "./output.js";
import { questionsOf } from "./questions.js";
import type { Services } from "./services.js";
import { StepClock } from "./step-clock.js";
import { UsageMeter } from "./usage-meter.js";

/**
 * Executes one activation: load → compose → invoke → classify. Never throws: whatever happens is an outcome.
 * When it returns, the graph has stopped, and nothing of it goes on in the background, unless a tool ignores its
 * signal; what such a tool returns later goes nowhere.
 */
export async function execute(agent: LoadedAgent, activation: Activation, given: Services): Promise<Outcome> {
  const clock = new StepClock(agent.times, given.signal);
  const services = { ...given, signal: clock.signal };
  const meter = new UsageMeter(agent.name, activation.tenant, services);
  let run: ComposedRun | undefined;
  try {
    services.signal.throwIfAborted();
    run = compose(agent, activation, services, meter, clock);
    const graph = await agent.compile(run.config);
    const input = await loadInput(graph, activation, services.checkpointer);
    clock.begin();
    const ended = await invoke(graph, input, run, agent, activation, services);
    return await classify(graph, ended, run, agent, services, meter);
  } catch (error) {
    return outcomeOfError(error, agent, services, meter.usage);
  } finally {
    clock.stop();
    run?.dispose();
  }
}

async function invoke(
  graph: CompiledGraph,
  input: unknown,
  run: ComposedRun,
  agent: LoadedAgent,
  activation: Activation,
  services: Services,
): Promise<Ended> {
  const hasRules = piiRulesOf(agent).length > 0;
  return follow(await graph.stream(input, run.config), publisher(activation, services, hasRules));
}

async function classify(
  graph: CompiledGraph,
  ended: Ended,
  run: ComposedRun,
  agent: LoadedAgent,
  services: Services,
  { usage }: UsageMeter,
): Promise<Outcome> {
  // A graph may finish in the moment in which it is stopped: whoever stopped it was told that it would stop.
  services.signal.throwIfAborted();
  if (ended.interrupted) {
    const state = await graph.getState(run.config);
    const questions = services.redactor
      .value(questionsOf(state), "approval")
      .map((question) => withTerms(question, agent));
    return {
      kind: "interrupted",
      questions,
      checkpointId: String(state.config.configurable?.checkpoint_id),
      usage,
    };
  }
  const { output, endedBy } = resultOf(agent, ended.values);
  return { kind: "completed", output: services.redactor.value(output, "output"), endedBy, usage };
}

function withTerms(question: InterruptQuestion, { people }: LoadedAgent): InterruptQuestion {
  const terms = question.actions
    ? termsFor(
        people,
        question.actions.map((action) => action.name),
      )
    : termsOfQuestion(people);
  return terms ? { ...question, terms } : question;
}
