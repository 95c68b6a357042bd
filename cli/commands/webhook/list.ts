import type { WebhookTarget } from "../../../proto/svc/v1/webhook_pb.ts";
import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError } from "../../app/errors.ts";
import { environment, json, verbose } from "../../app/options.ts";
import { out } from "../../terminal/colors.ts";
import { cleanLine } from "../../terminal/format.ts";
import { print, printJson } from "../../terminal/output.ts";
import { mappingLines } from "../../views/deployment.ts";

const list: Command = command({
  args: {
    "api-key-only": { type: "boolean", description: "Only webhooks pushed with the current API key" },
    environment: {
      ...environment.environment,
      description: "Those of this environment instead of production",
    },
    ...json,
    verbose: { ...verbose.verbose, description: "Also the field mappings and the fetched address" },
  },
  about: "Whoever knows a URL can trigger what is behind it: treat URLs as secrets.",
  async run(values) {
    const connection = openConnection({
      ...values,
      missingKey: {
        message: "No API key found: SVC_API_KEY is not set.",
        advice: "Export it and repeat: export SVC_API_KEY=<your key>",
      },
    });
    const webhooks = await connection.client("webhooks");
    const answer = await webhooks.listWebhooks({
      apiKeyOnly: values["api-key-only"],
      environment: values.environment ?? "",
    });
    const isEmpty = answer.agents.length + answer.workflows.length === 0;
    if (values.json) {
      const { ListWebhooksResponseSchema } = await import("../../../proto/svc/v1/webhook_pb.ts");
      await printJson(ListWebhooksResponseSchema, answer);
    } else print(`Organization: ${cleanLine(answer.organization?.name ?? "")}`);
    if (isEmpty) {
      throw new CliError(
        `No webhook URLs found${values["api-key-only"] ? " for this API key" : ""}.`,
        "Add `webhooks` to an agent or a workflow in svc-project.yaml, then deploy with `svc push`.",
      );
    }
    if (values.json) return;
    printTargets("Agent webhooks", answer.agents, values.verbose);
    printTargets("Workflow webhooks", answer.workflows, values.verbose);
  },
});

function printTargets(title: string, targets: readonly WebhookTarget[], verbose: boolean): void {
  if (targets.length === 0) return;
  const slugs = targets.flatMap(({ webhooks }) => webhooks.map(({ slug }) => slug.length));
  const width = Math.max(...slugs);
  print(`\n${out.bold(title)}`);
  for (const target of targets) {
    print(`  ${target.name}`);
    for (const { slug, url, fieldMapping, signatureScheme } of target.webhooks) {
      print(`    ${out.cyan(slug)}${" ".repeat(width - slug.length)}  ${url}`);
      if (!verbose) continue;
      print(`      ${out.dim(signatureScheme === "" ? "not signed" : `signed: ${signatureScheme}`)}`);
      for (const line of mappingLines(fieldMapping)) print(`      ${line}`);
    }
  }
}

export default list;
