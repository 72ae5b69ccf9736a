import {
  AGENT,
  type DashboardSpec,
  inRange,
  MODEL,
  ofAgent,
  ofModel,
  quantile,
  rate,
  share,
} from "./panel.js";

const COST = 'drover_model_cost_dollars_total{tenant=~"$tenant", agent=~"$agent", model=~"$model"}';

/** What fails, what it costs, how long it takes. */
export const agents: DashboardSpec = {
  uid: "drover-agents",
  title: "Drover: agents and models",
  question: "Which agent, model or tool fails, how slow is it, and what does it cost?",
  variables: ["agent", "tenant", "model"],
  rows: [
    {
      title: "Agents",
      panels: [
        {
          title: "Failing runs by agent",
          shows: "The share of an agent's ended runs that ended with an error or out of time.",
          emptyWhile: "Empty while no run ends.",
          act: "Look at the codes beside it. One agent: its model, its tools or its last version. All: the provider or Redis.",
          command: "drover runs list --status error --agent <agent> --limit 1000",
          kind: "lines",
          unit: "percentunit",
          queries: [
            {
              expr: share(
                `sum by (agent) (${rate(`drover_runs_total${ofAgent('outcome=~"error|timeout"')}`)})`,
                `sum by (agent) (${rate(`drover_runs_total${AGENT}`)})`,
              ),
              legend: "{{agent}}",
            },
          ],
        },
        {
          title: "Failures by agent and code",
          shows: "How often which code ended runs of which agent in the time that is shown.",
          emptyWhile: "Empty while none failed.",
          act: "docs/errors.md says for each code what to do; `drover runs show <id>` tells everything about a run.",
          command: "drover runs list --status error --agent <agent> --code <code> --limit 1000",
          kind: "table",
          queries: [{ expr: `sum by (agent, code) (${inRange(`drover_run_failures_total${AGENT}`)}) > 0` }],
        },
        {
          title: "What ended runs",
          shows: "Runs by what ended them: completed, a limit, a refusal, a cut answer, an error.",
          act: "A limit ends runs that count as a success: raise it in the agent's policy if it may do more.",
          command:
            'drover runs list --agent <agent> --limit 1000 --json | jq -r \'select((.endedBy // "completed") != "completed") | .runId\'',
          kind: "bars",
          queries: [
            {
              expr: `sum by (ended_by) (increase(drover_run_endings_total${AGENT}[$__rate_interval]))`,
              legend: "{{ended_by}}",
            },
          ],
        },
        {
          title: "Duration of runs",
          shows: "From a run's acceptance to its end, waiting for people included.",
          emptyWhile: "Empty while no run ends.",
          act: "Compare with the wait for a worker (Fleet) and with the models' latency below.",
          command: "drover runs list --agent <agent> --limit 1000",
          kind: "lines",
          unit: "s",
          queries: [0.5, 0.95].map((q) => ({
            expr: quantile(q, "drover_run_duration_seconds", "agent", AGENT),
            legend: `p${q * 100} {{agent}}`,
          })),
        },
        {
          title: "Limits that were hit",
          shows: "Calls or runs that a limit stopped, by limit and scope.",
          act: "recursion: the agent loops. run_time, deadline: it is too slow, or waits too long. Others: raise the policy's limit, or see why the model asks so often.",
          command: "drover runs list --status error --code MODEL_CALL_LIMIT --limit 1000",
          kind: "bars",
          queries: [
            {
              expr: `sum by (limit, scope) (increase(drover_limit_hits_total${AGENT}[$__rate_interval]))`,
              legend: "{{limit}}, {{scope}}",
            },
          ],
        },
        {
          title: "Personal data that was taken out",
          shows: "Matches of PII rules, by type and place.",
          emptyWhile: "Empty without rules (policy.pii), and while they find nothing.",
          act: "A type that is new, or that vanished: look whether a rule or the documents changed.",
          command: "drover agents show <agent>",
          kind: "bars",
          queries: [
            {
              expr: "sum by (type, place) (increase(drover_redactions_total[$__rate_interval]))",
              legend: "{{type}}, {{place}}",
            },
          ],
        },
      ],
    },
    {
      title: "Models",
      panels: [
        {
          title: "Model calls that fail",
          shows: "The share of requests to a provider that failed, by model.",
          emptyWhile: "Empty while no model is asked.",
          act: "Look at the outcomes beside it. One provider only: name a fallback of another one in the agents.",
          command: "drover runs list --status error --code MODEL_ERROR --limit 1000",
          kind: "lines",
          unit: "percentunit",
          queries: [
            {
              expr: share(
                `sum by (model) (${rate(`drover_model_calls_total${ofModel('outcome!="success"')}`)})`,
                `sum by (model) (${rate(`drover_model_calls_total${MODEL}`)})`,
              ),
              legend: "{{model}}",
            },
          ],
        },
        {
          title: "Model calls by outcome",
          shows: "Requests a second to providers, retries and fallbacks included.",
          act: "MODEL_RATE_LIMITED: fewer slots or a higher quota. MODEL_AUTH: the key is wrong or was revoked. MODEL_TIMEOUT: the provider is slow. MODEL_ERROR: it fails.",
          command: "drover runs list --status error --code MODEL_RATE_LIMITED --limit 1000",
          kind: "lines",
          unit: "reqps",
          queries: [
            {
              expr: `sum by (provider, outcome) (${rate(`drover_model_calls_total${MODEL}`)})`,
              legend: "{{provider}} {{outcome}}",
            },
          ],
        },
        {
          title: "Latency of models",
          shows: "From a request to its whole answer, p50 and p95.",
          emptyWhile: "Empty until a call has ended: one that is under way is not in it.",
          act: "It grows for one model: the provider is slow, or the conversations grew (see tokens): set policy.summarization.",
          command: "drover runs list --status running --limit 1000",
          kind: "lines",
          unit: "s",
          queries: [0.5, 0.95].map((q) => ({
            expr: quantile(q, "drover_model_call_duration_seconds", "model", MODEL),
            legend: `p${q * 100} {{model}}`,
          })),
        },
        {
          title: "Time to the first token",
          shows: "Of runs that stream what the model says, p95.",
          emptyWhile: "Empty while no run streams (stream mode messages).",
          act: "It grows while the latency does not: the provider queues requests.",
          command: "drover runs list --status running --limit 1000",
          kind: "lines",
          unit: "s",
          queries: [
            { expr: quantile(0.95, "drover_model_first_token_seconds", "model", MODEL), legend: "{{model}}" },
          ],
        },
        {
          title: "Tokens",
          shows: "Tokens a second. cached is a part of input, reasoning a part of output.",
          act: "input grows without more runs: histories grow, set policy.summarization. cached falls: prompts begin differently each time.",
          command: "drover runs list --agent <agent> --limit 1000 --json | jq '.usage'",
          kind: "lines",
          unit: "short",
          queries: [
            {
              expr: `sum by (direction) (${rate(`drover_model_tokens_total${MODEL}`)})`,
              legend: "{{direction}}",
            },
          ],
        },
        {
          title: "Fallbacks",
          shows: "Calls that went to the next model of the policy because one failed.",
          emptyWhile: "Empty while none was needed, and for agents without fallbacks.",
          act: "They never stop: the first model is not to be had; take it out, or mend its key or quota.",
          command: "drover agents show <agent>",
          kind: "bars",
          queries: [
            {
              expr: `sum by (from_model, to_model) (increase(drover_fallbacks_total${AGENT}[$__rate_interval]))`,
              legend: "{{from_model}} → {{to_model}}",
            },
          ],
        },
      ],
    },
    {
      title: "Tools",
      panels: [
        {
          title: "Tool calls by outcome",
          shows: "Calls a second, by tool and outcome. replayed took a committed result in place of a call.",
          act: "TOOL_ERROR grows: the tool's other side fails; its own log says why.",
          command: "drover runs list --status error --code TOOL_ERROR --limit 1000",
          kind: "lines",
          unit: "ops",
          queries: [
            {
              expr: `sum by (tool, outcome) (${rate(`drover_tool_calls_total${AGENT}`)})`,
              legend: "{{tool}} {{outcome}}",
            },
          ],
        },
        {
          title: "Duration of tool calls",
          shows: "From the start of a call to its result, its tries included, p95.",
          emptyWhile: "Empty while no tool is called.",
          act: "One tool grows: its other side is slow. It holds a worker's slot meanwhile.",
          command: "drover runs list --status running --limit 1000",
          kind: "lines",
          unit: "s",
          queries: [
            { expr: quantile(0.95, "drover_tool_call_duration_seconds", "tool", AGENT), legend: "{{tool}}" },
          ],
        },
      ],
    },
    {
      title: "What it costs",
      panels: [
        {
          title: "Dollars an hour by agent",
          shows: "What model calls cost by the price list, at the present rate.",
          emptyWhile: "Empty while no call has a price: see Calls without a price.",
          act: "An agent jumps: see its tokens and its calls for each run. policy.modelCalls limits them.",
          command: "drover runs list --agent <agent> --limit 1000 --json | jq '.usage.costMicros'",
          kind: "lines",
          unit: "currencyUSD",
          queries: [{ expr: `3600 * sum by (agent) (${rate(COST)})`, legend: "{{agent}}" }],
        },
        {
          title: "Dollars an hour by tenant",
          shows: "The same, by whose runs they are.",
          emptyWhile: "Empty while no call has a price: see Calls without a price.",
          act: "A tenant jumps: pause it, or limit its concurrent runs in the fleet's policy.",
          command: "DROVER_TENANT=<tenant> drover runs list --limit 1000",
          kind: "lines",
          unit: "currencyUSD",
          queries: [{ expr: `3600 * sum by (tenant) (${rate(COST)})`, legend: "{{tenant}}" }],
        },
        {
          title: "Dollars in the time shown",
          shows: "By tenant, agent and model.",
          emptyWhile: "Empty while no call has a price: see Calls without a price.",
          act: "A lower bound while calls without a price are counted.",
          command: "drover batches show <batch id>",
          kind: "table",
          unit: "currencyUSD",
          queries: [{ expr: `sum by (tenant, agent, model) (${inRange(COST)}) > 0` }],
        },
        {
          title: "Calls without a price",
          shows: "Calls of models that the price list does not have, or that came without counts of tokens.",
          emptyWhile: "Empty while every call has one.",
          act: "Add the model to the price list (libs/runtime/prices.json).",
          command: "drover agents show <agent>",
          kind: "bars",
          queries: [
            {
              expr: 'sum by (model) (increase(drover_model_unpriced_calls_total{model=~"$model"}[$__rate_interval]))',
              legend: "{{model}}",
            },
          ],
        },
      ],
    },
  ],
};
