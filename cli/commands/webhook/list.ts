import type { WebhookTarget } from "../../../proto/svc/v1/webhook_pb.ts";
import { defaultEnvironment, openConnection } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { type Command, command } from "../../app/command.ts";
import { fullListLimit, json, oneEnvironment, paging, verbose } from "../../app/options.ts";
import { stdoutColors as colors } from "../../terminal/colors.ts";
import { print } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { indent, labelled } from "../../terminal/table.ts";
import { mappingLines } from "../../views/deployment.ts";
import { printMessage, reportMore } from "../../views/result.ts";

export default command({
  details: "Treat webhook URLs as secrets. Anyone who has the URL can call an unsigned webhook.",
  args: {
    "api-key-only": { type: "boolean", description: "Only webhooks pushed with the current API key" },
    ...fullListLimit,
    ...paging,
    ...oneEnvironment,
    ...json,
    verbose: { ...verbose.verbose, description: "Also print field mappings and requests" },
  },
  async run(values) {
    const apiKeyOnly = values["api-key-only"];
    const connection = openConnection(values);
    const { environment = "" } = values;
    const webhooks = await connection.client("webhooks");
    const list = await readPages(
      values,
      (request) => webhooks.listWebhooks({ apiKeyOnly, environment, ...request }),
      (all, next) => {
        append(all.agents, next.agents);
        append(all.workflows, next.workflows);
      },
    );
    if (values.json) return printMessage(list);
    print(`Organization: ${sanitizeLine(list.organization?.name ?? "")}`);
    if (list.agents.length + list.workflows.length === 0) {
      const place = `in ${environment || defaultEnvironment(connection)}`;
      report.line(`No webhook URLs found ${place}${apiKeyOnly ? " for this API key" : ""}.`);
      return report.hint("Add `webhooks` to an agent or workflow in svc-project.yaml and run `svc push`.");
    }
    printTargets("Agent webhooks", list.agents, values.verbose);
    printTargets("Workflow webhooks", list.workflows, values.verbose);
    if (list.nextPageToken !== "") reportMore(list.nextPageToken);
  },
}) as Command;

/** Appends the targets of a page. The webhooks of one target may be on two pages. */
function append(targets: WebhookTarget[], page: readonly WebhookTarget[]): void {
  const last = targets.at(-1);
  const [first, ...others] = page;
  if (first === undefined) return;
  if (first.name === last?.name) last.webhooks.push(...first.webhooks);
  else targets.push(first);
  targets.push(...others);
}

function printTargets(title: string, targets: readonly WebhookTarget[], verbose: boolean): void {
  if (targets.length === 0) return;
  const all = targets.flatMap(({ webhooks }) => webhooks);
  const lines = labelled(
    all.map(({ slug, url }) => [slug, colors.cyan(slug), url]),
    4,
  );
  print(`\n${colors.bold(title)}`);
  for (const { name, webhooks } of targets) {
    print(`  ${name}`);
    for (const { fieldMapping, signatureScheme, rateLimit } of webhooks) {
      print(indent(lines.shift() ?? "", "    "));
      if (!verbose) continue;
      print(`      ${colors.dim(signatureScheme === "" ? "unsigned" : `signature: ${signatureScheme}`)}`);
      if (rateLimit !== undefined) {
        const { requestsPerSecond, burst, remaining } = rateLimit;
        print(
          `      ${colors.dim(`rate limit: ${requestsPerSecond} per second, ${remaining} of ${burst} left`)}`,
        );
      }
      for (const line of mappingLines(fieldMapping)) print(`      ${line}`);
    }
  }
}
