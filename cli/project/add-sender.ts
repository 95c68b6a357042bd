/** Adds the webhook of a sender to the project in a folder, with a sample of its payload. */
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import { PROJECT_FILE, parseProjectFile } from "../../project/file/parse.ts";
import { isName, nameRule } from "../../project/names.ts";
import { didYouMean } from "../../project/suggest.ts";
import { listTargets } from "../../project/tree.ts";
import { CliError, UsageError } from "../app/errors.ts";
import type { Sender } from "../senders/index.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { addWebhook, itemLines, type WebhookEntry } from "./add-webhook.ts";
import { readDefinition } from "./load.ts";

export interface AddedWebhook {
  target: Pick<TargetDefinition, "kind" | "name">;
  slug: string;
  /** Whether no other target has a webhook with this slug. */
  isUnique: boolean;
  /** Files that were written, relative to the project. An existing file is kept. */
  files: string[];
  /** The sample of the payload, and of the request when the webhook reads headers. */
  sample: { data: string; request: string | null };
}

/** @param options - the target by name, if the project has several; the slug, by default the sender's name */
export async function addSender(
  root: string,
  sender: Sender,
  options: { target: string | undefined; slug: string | undefined },
): Promise<AddedWebhook> {
  const slug = options.slug ?? sender.name;
  if (!isName(slug)) {
    throw new UsageError(
      `"${sanitizeLine(slug)}" is not a valid slug: a slug must be ${nameRule}.`,
      "Choose another slug.",
    );
  }
  const definition = await readDefinition(root);
  const target = chooseTarget(definition, options.target);
  if (target.webhooks.some((webhook) => webhook.slug === slug)) {
    throw new CliError(
      `The ${target.kind} ${target.name} already has a webhook "${slug}".`,
      "No file was written. Pass another slug with --slug <slug>.",
    );
  }
  const webhook: WebhookEntry = { slug, ...sender.webhook };
  const before = await readFile(join(root, PROJECT_FILE), "utf8");
  const after = addWebhook(before, target.kind, target.name, webhook);
  const files = new Set(await listTargets(root));
  const parsed = after === null ? null : parseProjectFile(Buffer.from(after), { files }).definition;
  if (after === null || parsed === null || !differsOnlyBy(definition, parsed, target, slug)) {
    throw new CliError(
      `Cannot add the webhook to ${PROJECT_FILE}: the ${target.kind} ${target.name} or its webhooks are not written in block style.`,
      `No file was written. Add these lines to \`webhooks\` of ${target.name}.`,
      { details: itemLines(webhook, 2) },
    );
  }
  await writeFile(join(root, PROJECT_FILE), after);
  const data = `samples/${target.name}.${slug}.json`;
  const request = sender.headers === undefined ? null : `samples/${target.name}.${slug}.request.json`;
  const written = [PROJECT_FILE];
  if (await writeNewFile(root, data, sender.sample)) written.push(data);
  if (request !== null && (await writeNewFile(root, request, { headers: sender.headers })))
    written.push(request);
  return {
    target: { kind: target.kind, name: target.name },
    slug,
    isUnique: [...definition.agents, ...definition.workflows].every(({ webhooks }) =>
      webhooks.every((each) => each.slug !== slug),
    ),
    files: written,
    sample: { data, request },
  };
}

function chooseTarget(definition: ProjectDefinition, name: string | undefined): TargetDefinition {
  const all = [...definition.agents, ...definition.workflows];
  const names = all.map((target) => target.name);
  const [first] = all;
  if (first === undefined) {
    throw new CliError("The project has no agent or workflow.", "Add one with `svc create agent <name>`.");
  }
  if (name === undefined) {
    if (all.length === 1) return first;
    throw new UsageError(
      "The project has several agents and workflows.",
      `Pass --target with one of: ${names.join(", ")}.`,
    );
  }
  const found = all.find((target) => target.name === name);
  if (found !== undefined) return found;
  throw new CliError(
    `No agent or workflow "${sanitizeLine(name)}" in ${PROJECT_FILE}${didYouMean(name, names)}.`,
    `Defined names: ${names.join(", ")}.`,
  );
}

/** Whether the second definition is the first one with one more webhook of the target. */
function differsOnlyBy(
  before: ProjectDefinition,
  after: ProjectDefinition,
  { kind, name }: TargetDefinition,
  slug: string,
): boolean {
  const without = (target: TargetDefinition): TargetDefinition =>
    target.kind === kind && target.name === name
      ? { ...target, webhooks: target.webhooks.filter((webhook) => webhook.slug !== slug) }
      : target;
  const reduced = { ...after, agents: after.agents.map(without), workflows: after.workflows.map(without) };
  return isDeepStrictEqual(reduced, before) && !isDeepStrictEqual(after, before);
}

/** False when the file exists. */
async function writeNewFile(root: string, path: string, value: object): Promise<boolean> {
  await mkdir(join(root, dirname(path)), { recursive: true });
  try {
    await using file = await open(join(root, path), "wx");
    await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}
