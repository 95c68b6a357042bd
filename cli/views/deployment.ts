import type { JsonObject } from "../../project/json.ts";
import type { DeployedTarget, DeployedWebhook, Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import { ago, msOf, timeAndAge } from "../api/timestamps.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { bytes, count, duration } from "../terminal/format.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { fields, labelled, paragraphs, section } from "../terminal/table.ts";
import { linesOf } from "../terminal/wrap.ts";
import { jsonSchemaText } from "./json-schema.ts";
import { paintedStatus } from "./status.ts";

/** One deployment in full. */
export function deploymentText(deployment: Deployment, options: { verbose: boolean }): string {
  const { createdBy, error } = deployment;
  return paragraphs([
    fields([
      ["deployment", deployment.deploymentId],
      ["status", paintedStatus(deployment.status)],
      ["project", sanitizeLine(`${deployment.project} ${deployment.version}`)],
      ["environment", deployment.environment],
      ["package", `${bytes(deployment.sizeBytes)}, ${count(deployment.fileCount, "file")}`],
      ["digest", `sha256:${deployment.digest}`],
      ["promoted from", deployment.sourceDeploymentId],
      ["pushed", timeAndAge(deployment.createdAt)],
      ["pushed by", createdBy === undefined ? "" : `${sanitizeLine(createdBy.name)} (${createdBy.keyId})`],
      ["activated", timeAndAge(deployment.activatedAt)],
      ["error", error === "" ? "" : colors.red(error)],
    ]),
    section("Agents", targetLines(deployment.agents)),
    section("Workflows", targetLines(deployment.workflows)),
    section("Warnings", warningLines(deployment)),
    section("Webhooks", webhookLines(deployment.webhooks, options)),
    section("Schedules", scheduleLines(deployment)),
    section(
      "Events",
      deployment.events.map(({ at, event, by }) => {
        return `${event.padEnd(11)}  ${timeAndAge(at)}${by === undefined ? "" : ` by ${sanitizeLine(by.name)}`}`;
      }),
    ),
    section("Files", options.verbose ? fileLines(deployment.files) : []),
  ]);
}

/** The result of a push, a rollback or a promotion: the ID, the webhook URLs and the schedules. */
export function deployedText(deployment: Deployment): string {
  return paragraphs([
    fields([["deployment ID", deployment.deploymentId]]),
    section("Webhooks", webhookLines(deployment.webhooks, { verbose: false })),
    section("Schedules", scheduleLines(deployment)),
  ]);
}

/** What to do about the warnings of a deployment, which are about secrets. */
export const secretAdvice = "Set the secrets with `svc secrets set <name>`.";

/** The lines of a field mapping, one for each parameter. */
export function mappingLines(mapping: Readonly<Record<string, string>>): string[] {
  const paths = Object.keys(mapping).map(sanitizeLine);
  const width = widest(paths);
  return Object.values(mapping).map(
    (parameter, index) =>
      `${colors.dim((paths[index] ?? "").padEnd(width))} ${colors.dim("→")} ${sanitizeLine(parameter)}`,
  );
}

/** The lines of a list of files, sizes first. */
export function fileLines(files: readonly { path: string; sizeBytes: number | bigint }[]): string[] {
  const sizes = files.map((file) => bytes(file.sizeBytes));
  const width = widest(sizes);
  return files.map(({ path }, index) => `${(sizes[index] ?? "").padStart(width)}  ${sanitizeLine(path)}`);
}

function warningLines({ warnings }: Deployment): string[] {
  if (warnings.length === 0) return [];
  return [...warnings.map(sanitizeLine), secretAdvice].flatMap((line) => linesOf(line, 2, process.stdout));
}

function webhookLines(webhooks: readonly DeployedWebhook[], options: { verbose: boolean }): string[] {
  const lines = labelled(
    webhooks.map(({ name, slug, url }) => [`${name}/${slug}`, `${name}/${slug}`, url]),
    2,
  );
  return webhooks.flatMap(({ fieldMapping }, index) => {
    const mapping = options.verbose ? mappingLines(fieldMapping) : [];
    return [lines[index] ?? "", ...mapping.map((line) => `  ${line}`)];
  });
}

function scheduleLines({ schedules }: Deployment): string[] {
  const width = widest(schedules.map(({ name }) => name));
  return schedules.map(({ name, cron, timezone, enabled, nextRunAt }) => {
    const next = nextRunAt === undefined ? "" : `, next run ${ago(nextRunAt)}`;
    const state = enabled ? next : `, ${colors.dim("disabled")}`;
    return `${name.padEnd(width)}  ${sanitizeLine(cron)} ${sanitizeLine(timezone)}${state}`;
  });
}

function targetLines(targets: readonly DeployedTarget[]): string[] {
  const width = widest(targets.map(({ name }) => name));
  return targets.flatMap((target) => {
    const { name, displayName, timeout, maxRetries } = target;
    const display = displayName === name ? "" : `  ${sanitizeLine(displayName)}`;
    const retries = maxRetries === 0 ? "" : `, ${count(maxRetries, "retry", "retries")}`;
    const settings = colors.dim(`timeout ${duration(msOf(timeout))}${retries}`);
    return [`${name.padEnd(width)}${display}  ${settings}`, ...schemaLines(target)];
  });
}

/** The schemas of a target, each on lines of its own. */
function schemaLines({ inputSchema, outputSchema }: DeployedTarget): string[] {
  const schemas = [
    ["input ", inputSchema],
    ["output", outputSchema],
  ] as const;
  return schemas.flatMap(([label, schema]) => {
    if (schema === undefined) return [];
    const isKnown = Object.keys(schema).length > 0;
    const text = isKnown ? sanitizeLine(jsonSchemaText(schema as JsonObject)) : "checked by the code";
    const [first = "", ...rest] = linesOf(text, 11, process.stdout);
    return [`  ${colors.dim(label)} ${first}`, ...rest.map((line) => `         ${line}`)];
  });
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}
