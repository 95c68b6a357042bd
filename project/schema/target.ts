import type { TargetKind } from "../definition.ts";
import {
  choice,
  flag,
  map,
  name,
  number,
  optionalList,
  paragraphs,
  ref,
  type Schema,
  text,
  weekSeconds,
} from "./values.ts";

/** An element of `agents` or `workflows`. */
export function target(kind: TargetKind): Schema {
  const properties = {
    name: name(
      `Name of the ${kind}, and of its module ${kind}s/<name>.ts. Agents and workflows do not share names.`,
    ),
    display_name: text("Name for people. Default: the name."),
    description: paragraphs(`Purpose of the ${kind}, for people and models.`),
    expose_as_tool: flag(
      `Whether models can run the ${kind} as a tool, over the Model Context Protocol. Its name may not begin with svc_.`,
      false,
    ),
    timeout: number("Seconds that an attempt may take.", {
      exclusiveMinimum: 0,
      maximum: weekSeconds,
      default: 300,
    }),
    enable_retry: flag("Whether a failed attempt is retried.", false),
    retry_policy: retryPolicy,
    on_failure: choice(`Whether failures of the ${kind} call on_failure of the project.`, [false]),
    webhooks: optionalList(`Webhooks that run the ${kind}.`, ref("webhook")),
  };
  const purpose =
    kind === "agent"
      ? "An agent: a function that an event runs."
      : "A workflow: it can run agents with ctx.run.";
  return map(purpose, properties, { required: ["name"] });
}

const delay = { minimum: 0, maximum: weekSeconds };

const retryPolicy = map("How a failed attempt is retried. Needs enable_retry: true.", {
  max_retries: {
    type: "integer",
    minimum: 0,
    maximum: 1000,
    default: 3,
    description: "Attempts after the first.",
  },
  strategy: choice(
    "exponential doubles the delay with each attempt and waits a random part of it. fixed waits the initial delay.",
    ["exponential", "fixed"],
    "exponential",
  ),
  initial_delay: number("Seconds before the first retry. Fractions are allowed.", { ...delay, default: 1 }),
  max_delay: number("The longest delay, in seconds.", { ...delay, default: 300 }),
});
