import { didYouMean } from "../../../project/suggest.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError, UsageError } from "../../app/errors.ts";
import { json } from "../../app/options.ts";
import { docsPath } from "../../app/package-root.ts";
import type { AddedWebhook } from "../../project/add-sender.ts";
import { projectFolder } from "../../project/folder.ts";
import type { Sender } from "../../senders/index.ts";
import { withoutColors } from "../../terminal/colors.ts";
import { print, printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { nextStepsText, type Step } from "../../terminal/steps.ts";
import { fields, table } from "../../terminal/table.ts";
import { widthOf } from "../../terminal/width.ts";
import { columnsOf, wrap } from "../../terminal/wrap.ts";

export default command({
  details:
    "Writes the webhook of a sender to svc-project.yaml, with its signature and field mapping, and a sample of its payload to samples/. The rest of the file does not change. Without a sender, lists the senders.",
  args: {
    sender: { type: "positional", required: false, description: "Sender, for example github" },
    target: {
      type: "string",
      valueHint: "name",
      description: "Agent or workflow of the webhook (default: the only one)",
    },
    slug: { type: "string", valueHint: "slug", description: "Webhook slug (default: the sender)" },
    ...json,
  },
  examples: [
    ["svc webhook add", "List the senders"],
    ["svc webhook add stripe --target invoice --slug payments", "Add a webhook for Stripe"],
  ],
  async run({ sender: name, target, slug, json: isJson }) {
    const { senders } = await import("../../senders/index.ts");
    if (name === undefined) {
      if (target !== undefined || slug !== undefined) {
        throw new UsageError("--target and --slug require a sender.", "Example: svc webhook add github");
      }
      return isJson ? printJson({ senders: senders.map(entryOf) }) : print(listOf(senders));
    }
    const sender = senders.find((each) => each.name === name);
    if (sender === undefined) {
      const names = senders.map((each) => each.name);
      throw new CliError(
        `No sender "${sanitizeLine(name)}"${didYouMean(name, names)}.`,
        "Run `svc webhook add` to list the senders. Other senders use the schemes standard, hmac, ed25519, token or basic.",
      );
    }
    const { addSender } = await import("../../project/add-sender.ts");
    const added = await addSender(projectFolder(), sender, { target, slug });
    const { isUnique: _, ...written } = added;
    if (isJson) printJson({ ...entryOf(sender), ...written, secrets: sender.secrets, setup: sender.setup });
    else explain(sender, added);
  },
}) as Command;

function entryOf({ name, title, description }: Sender) {
  return { sender: name, title, description, docs: pageOf(name) };
}

function listOf(senders: readonly Sender[]): string {
  const rows = senders.map(({ name, title, description }) => [name, title, description]);
  const wide = table(["SENDER", "TITLE", "DESCRIPTION"], rows, 0, Number.POSITIVE_INFINITY);
  const columns = columnsOf(process.stdout);
  if (wide.split("\n").every((line) => widthOf(withoutColors(line)) <= columns)) return wide;
  const width = Math.max(...senders.map(({ name }) => name.length)) + 2;
  return fields(senders.map(({ name, description }) => [name, wrap(description, width, process.stdout)]));
}

function pageOf(name: string): string {
  return docsPath(`webhooks/senders/${name}.md`);
}

function explain(sender: Sender, { target, slug, isUnique, files, sample }: AddedWebhook): void {
  const [projectFile, ...samples] = files;
  report.success(`Added the webhook "${slug}" of the ${target.kind} ${target.name} to ${projectFile}.`);
  for (const file of samples) report.success(`Created ${file}.`);
  const option = isUnique ? "" : ` --${target.kind} ${target.name}`;
  const request = sample.request === null ? "" : ` --request ${sample.request}`;
  report.line(
    nextStepsText([
      [`svc webhook test ${slug}${option} --data ${sample.data}${request}`, ""],
      ...Object.entries(sender.secrets).map(([name, value]): Step => [`svc secrets set ${name}`, value]),
      ["svc push", "prints the URL"],
    ]),
  );
  report.wrapped(`\n${sender.title}: ${sender.setup}`);
  report.wrapped(`More: ${pageOf(sender.name)}`);
}
