import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ProjectDefinition, TargetDefinition, WebhookDefinition } from "../../project/definition.ts";

/** The folder of sample inputs in a project. It is not deployed. */
const sampleFolder = "samples";

/** A test case: a target and a file with its input or with the payload of one of its webhooks. */
export interface TestCase {
  target: TargetDefinition;
  /** Null when the file is an input. */
  webhook: WebhookDefinition | null;
  /** Path relative to the project. */
  file: string;
  /** A file with the headers and the query of the request; null without one. */
  requestFile: string | null;
}

/**
 * Finds the test cases of a project: `samples/<name>.json` is an input of an agent or workflow,
 * `samples/<name>.<slug>.json` a payload of one of its webhooks, and `samples/<name>.<slug>.request.json` the headers and the
 * query of this request. Names and slugs contain no dots, so file names are unambiguous.
 *
 * @returns the cases, and the JSON files that match no target
 */
export async function findSamples(
  root: string,
  definition: ProjectDefinition,
): Promise<{ cases: TestCase[]; unknown: string[] }> {
  const names = await readdir(join(root, sampleFolder)).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const files = new Set(names.filter((name) => name.endsWith(".json")));
  const cases: TestCase[] = [];
  const take = (target: TargetDefinition, webhook: WebhookDefinition | null, name: string): void => {
    const request = name.replace(/json$/, "request.json");
    const hasRequest = webhook !== null && files.has(name) && files.delete(request);
    const requestFile = hasRequest ? join(sampleFolder, request) : null;
    if (files.delete(name)) cases.push({ target, webhook, file: join(sampleFolder, name), requestFile });
  };
  for (const target of [...definition.agents, ...definition.workflows]) {
    take(target, null, `${target.name}.json`);
    for (const webhook of target.webhooks) take(target, webhook, `${target.name}.${webhook.slug}.json`);
  }
  return { cases, unknown: [...files].toSorted().map((name) => join(sampleFolder, name)) };
}
