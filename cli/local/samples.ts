import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ProjectDefinition, TargetDefinition, WebhookDefinition } from "../../project/definition.ts";

/** The folder of sample inputs, beside the project file. It is not deployed. */
export const sampleFolder = "samples";

/** Something to run: a target with an input, given as it is or as the payload of a webhook. */
export interface Case {
  target: TargetDefinition;
  /** Null when the file is the input itself. */
  webhook: WebhookDefinition | null;
  /** Path of the file, for people and for reading. */
  file: string;
}

/**
 * The cases that the sample files of a project make: `samples/<name>.json` is an input of an agent or workflow,
 * `samples/<name>.<slug>.json` a payload for one of its webhooks. Names and slugs hold no dots, so no file name has
 * two meanings.
 *
 * @returns also the files that fit nothing
 */
export async function findSamples(
  root: string,
  definition: ProjectDefinition,
): Promise<{ cases: Case[]; strangers: string[] }> {
  const names = await readdir(join(root, sampleFolder)).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const files = new Set(names.filter((name) => name.endsWith(".json")));
  const cases: Case[] = [];
  const take = (target: TargetDefinition, webhook: WebhookDefinition | null, name: string): void => {
    if (files.delete(name)) cases.push({ target, webhook, file: join(sampleFolder, name) });
  };
  for (const target of [...definition.agents, ...definition.workflows]) {
    take(target, null, `${target.name}.json`);
    for (const webhook of target.webhooks) take(target, webhook, `${target.name}.${webhook.slug}.json`);
  }
  return { cases, strangers: [...files].toSorted().map((name) => join(sampleFolder, name)) };
}
