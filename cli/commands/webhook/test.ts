import { existsSync } from "node:fs";
import type { TargetDefinition, WebhookDefinition } from "../../../project/definition.ts";
import { compileMapping } from "../../../project/mapping.ts";
import { didYouMean } from "../../../project/suggest.ts";
import { compileFilter } from "../../../project/webhook/filter.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError } from "../../app/errors.ts";
import { readInput } from "../../app/input.ts";
import { data, json, target, targetOf } from "../../app/options.ts";
import { requestSources } from "../../local/request-sources.ts";
import { projectFolder } from "../../project/folder.ts";
import { print, printJson } from "../../terminal/output.ts";
import { prettyJson, sanitizeLine } from "../../terminal/sanitize.ts";
import { paragraphs, section } from "../../terminal/table.ts";
import { mappingTrace } from "../../views/execution.ts";

export default command({
  details:
    "Reads the field mapping and the filter from svc-project.yaml. Prints whether the request starts an execution, and its input. Runs no code and needs no service.",
  args: {
    slug: { type: "positional", description: "Webhook slug" },
    data: {
      ...data.data,
      required: true,
      description: "JSON file with the payload, - for standard input (required)",
    },
    request: {
      type: "string",
      description:
        'JSON file with "headers" and "query" of the request, for $header and $query, also in events and when (default: <data>.request.json next to the file <data>.json)',
      valueHint: "file",
    },
    agent: { ...target.agent, description: "Agent of the webhook, if the slug is ambiguous" },
    workflow: { ...target.workflow, description: "Workflow of the webhook, if the slug is ambiguous" },
    ...json,
  },
  examples: [
    [
      "svc webhook test github-issue --data samples/triage.github-issue.json",
      "Test the field mapping of a new project",
    ],
  ],
  async run(values) {
    const { kind, name } = targetOf(values);
    const { readDefinition } = await import("../../project/load.ts");
    const definition = await readDefinition(projectFolder());
    const targets = [...definition.agents, ...definition.workflows].filter(
      (target) => name === "" || (target.name === name && target.kind === kind),
    );
    const { target: owner, webhook } = findWebhook(targets, values.slug);
    const payload = await readInput(values.data);
    const sources = requestSources(
      await readInput(values.request ?? requestNextTo(values.data)),
      owner,
      webhook,
    );
    const mapping = compileMapping(webhook.fieldMapping);
    const { input, unmapped } = mapping.apply(payload, sources);
    const trace = mapping.trace(payload, sources);
    const filter = compileFilter(webhook);
    const event = filter?.eventOf(payload, sources) ?? null;
    const ignored = filter?.ignores(payload, sources) ?? null;
    if (values.json) {
      const steps = trace.map(({ stoppedAt, ...step }) => ({ ...step, stopped_at: stoppedAt }));
      return printJson({ input, unmapped, mapping: steps, ...(filter !== null && { event, ignored }) });
    }
    const decision = [
      ...(event === null ? [] : [`event: ${sanitizeLine(event)}`]),
      ignored === null ? "starts an execution" : `ignored: ${sanitizeLine(ignored)}`,
    ];
    print(
      paragraphs([
        section("Mapping", mappingTrace(trace)),
        section("Filter", filter === null ? [] : decision),
        section("Input", prettyJson(input)),
      ]),
    );
  },
}) as Command;

/** `svc webhook add` writes the headers of a sample next to its payload, and `svc test` reads them there. */
function requestNextTo(data: string): string | undefined {
  const path = data.replace(/(?<!\.request)\.json$/, ".request.json");
  return path !== data && existsSync(path) ? path : undefined;
}

function findWebhook(
  targets: readonly TargetDefinition[],
  slug: string,
): { target: TargetDefinition; webhook: WebhookDefinition } {
  const all = targets.flatMap((target) => target.webhooks.map((webhook) => ({ target, webhook })));
  const found = all.filter(({ webhook }) => webhook.slug === slug);
  const [first] = found;
  if (first === undefined) {
    const slugs = all.map(({ webhook }) => webhook.slug);
    throw new CliError(
      `No webhook "${slug}" in svc-project.yaml${didYouMean(slug, slugs)}.`,
      slugs.length === 0
        ? "Add `webhooks` to an agent or workflow."
        : `Defined webhooks: ${[...new Set(slugs)].join(", ")}.`,
    );
  }
  if (found.length > 1) {
    const owners = found.map(({ target }) => `--${target.kind} ${target.name}`).join(" or ");
    throw new CliError(`The slug "${slug}" is ambiguous.`, `Pass ${owners}.`);
  }
  return first;
}
