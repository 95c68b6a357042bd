import type { TargetDefinition, WebhookDefinition } from "../../../project/definition.ts";
import { compileMapping } from "../../../project/mapping.ts";
import { didYouMean } from "../../../project/suggest.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError } from "../../app/errors.ts";
import { data, readInput } from "../../app/input.ts";
import { json, target, targetOf } from "../../app/options.ts";
import { out } from "../../terminal/colors.ts";
import { prettyJson } from "../../terminal/format.ts";
import { print } from "../../terminal/output.ts";
import { indent } from "../../terminal/table.ts";
import { mappingTrace } from "../../views/execution.ts";

const test: Command = command({
  about: "Shows what the project file in this folder makes of a payload. Needs no service and runs nothing.",
  args: {
    slug: { type: "positional", description: "The webhook" },
    data: {
      ...data.data,
      required: true,
      description: "A file with the payload; `-` reads standard input (required)",
    },
    agent: { ...target.agent, description: "The agent whose webhook is meant" },
    workflow: { ...target.workflow, description: "The workflow whose webhook is meant" },
    ...json,
  },
  examples: [
    [
      "svc webhook test github-issue --data samples/triage.github-issue.json",
      "Try the mapping of a new project",
    ],
  ],
  async run(values) {
    const { kind, name } = targetOf(values);
    const { readDefinition } = await import("../../project/load.ts");
    const definition = await readDefinition(process.cwd());
    const targets = [...definition.agents, ...definition.workflows].filter(
      (one) => name === "" || (one.name === name && one.kind === kind),
    );
    const webhook = findWebhook(targets, values.slug);
    const payload = await readInput(values.data);
    const mapping = compileMapping(webhook.fieldMapping);
    const { input, unmapped } = mapping.apply(payload);
    const trace = mapping.trace(payload);
    if (values.json) {
      return print(
        prettyJson({
          input,
          unmapped,
          mapping: trace.map(({ stoppedAt, ...step }) => ({ ...step, stopped_at: stoppedAt })),
        }),
      );
    }
    if (trace.length > 0) print(`${out.bold("Mapping")}\n${indent(mappingTrace(trace))}\n`);
    print(`${out.bold("Input")}\n${indent(prettyJson(input))}`);
  },
});

function findWebhook(targets: readonly TargetDefinition[], slug: string): WebhookDefinition {
  const all = targets.flatMap((target) => target.webhooks.map((webhook) => ({ target, webhook })));
  const found = all.filter(({ webhook }) => webhook.slug === slug);
  const [first, ...others] = found;
  if (first === undefined) {
    const slugs = all.map(({ webhook }) => webhook.slug);
    throw new CliError(
      `There is no webhook "${slug}" in svc-project.yaml${didYouMean(slug, slugs)}.`,
      slugs.length === 0
        ? "Add `webhooks` to an agent or a workflow."
        : `It has ${[...new Set(slugs)].join(", ")}.`,
    );
  }
  if (others.length > 0) {
    const owners = found.map(({ target }) => `--${target.kind} ${target.name}`).join(", ");
    throw new CliError(`Several webhooks are called "${slug}".`, `Say which is meant: ${owners}.`);
  }
  return first.webhook;
}

export default test;
