import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { ProjectDefinition } from "../../project/definition.ts";
import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import type { Connection } from "../api/connection.ts";
import { webhookSecrets } from "../local/secrets.ts";
import type { Step } from "../terminal/steps.ts";

/** Command lines after the first deployment of a project in an environment. */
export async function nextSteps(
  root: string,
  connection: Connection,
  definition: ProjectDefinition,
  deployment: Deployment,
): Promise<Step[]> {
  const { agents, workflows, webhooks, environment } = deployment;
  const option = environment === "production" ? "" : ` --environment ${environment}`;
  const missing = deployment.warnings.length === 0 ? [] : await missingSecrets(connection, definition);
  const [first] = [...agents, ...workflows];
  const lines = [
    ...missing.map((secret) => `svc secrets set ${secret}`),
    ...(first === undefined ? [] : [`svc run ${first.name}${sampleOption(root, first.name)}${option}`]),
    ...(webhooks.length === 0 ? [] : [`svc webhook list --verbose${option}`]),
    `svc logs --follow${option}`,
  ];
  return lines.map((line) => [line, ""]);
}

/** Empty when the key may not list secrets. */
async function missingSecrets(connection: Connection, definition: ProjectDefinition): Promise<string[]> {
  const client = await connection.client("organization");
  const list = await client.listSecrets({ pageSize: 1000 }).catch(() => null);
  if (list === null) return [];
  const names = new Set(list.secrets.map(({ name }) => name));
  return webhookSecrets(definition).filter((secret) => !names.has(secret));
}

function sampleOption(root: string, name: string): string {
  const sample = relative(process.cwd(), join(root, "samples", `${name}.json`));
  return existsSync(sample) && !sample.includes(" ") ? ` --data ${sample}` : "";
}
