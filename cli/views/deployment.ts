import type { DeployedTarget, DeployedWebhook, Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import { ago, moment } from "../api/timestamps.ts";
import { out } from "../terminal/colors.ts";
import { bytes, clean, cleanLine, count, duration } from "../terminal/format.ts";
import { fields, indent } from "../terminal/table.ts";
import { paintedStatus } from "./status.ts";

/** One deployment as people read it. */
export function deploymentText(deployment: Deployment, options: { verbose: boolean }): string {
  const { createdBy } = deployment;
  const parts = [
    fields([
      ["deployment", deployment.deploymentId],
      ["status", paintedStatus(deployment.status)],
      ["project", cleanLine(`${deployment.project} ${deployment.version}`)],
      ["environment", deployment.environment],
      ["package", `${bytes(deployment.sizeBytes)}, ${count(deployment.fileCount, "file")}`],
      ["digest", `sha256:${deployment.digest}`],
      ["promoted from", deployment.sourceDeploymentId],
      ["pushed", moment(deployment.createdAt)],
      ["pushed by", createdBy === undefined ? "" : `${cleanLine(createdBy.name)} (${createdBy.keyId})`],
      ["activated", moment(deployment.activatedAt)],
      ["error", deployment.error === "" ? "" : out.red(clean(deployment.error))],
    ]),
    targets("Agents", deployment.agents),
    targets("Workflows", deployment.workflows),
    section("Webhooks", webhookLines(deployment.webhooks, options)),
    section("Schedules", scheduleLines(deployment)),
    section(
      "Events",
      deployment.events.map(({ at, event, by }) => {
        return `${event.padEnd(11)}  ${moment(at)}${by === undefined ? "" : ` by ${cleanLine(by.name)}`}`;
      }),
    ),
    section("Files", options.verbose ? fileLines(deployment) : []),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** What is live after a push or a rollback: the id, the webhook URLs and the schedules. */
export function deployedText(deployment: Deployment): string {
  const parts = [
    fields([["deployment ID", deployment.deploymentId]]),
    section("Webhooks", webhookLines(deployment.webhooks, { verbose: false })),
    section("Schedules", scheduleLines(deployment)),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** The webhooks of a deployment, one line each; with `verbose` their mappings below. */
export function webhookLines(webhooks: readonly DeployedWebhook[], options: { verbose: boolean }): string[] {
  const width = Math.max(0, ...webhooks.map(({ name, slug }) => name.length + slug.length + 1));
  return webhooks.flatMap((webhook) => {
    const label = `${webhook.name}/${webhook.slug}`.padEnd(width);
    const mapping = options.verbose ? mappingLines(webhook.fieldMapping) : [];
    return [`${label}  ${webhook.url}`, ...mapping.map((line) => `  ${line}`)];
  });
}

/** A field mapping, one line for each parameter. */
export function mappingLines(mapping: Readonly<Record<string, string>>): string[] {
  const pairs = Object.entries(mapping).map(
    ([path, parameter]) => [cleanLine(path), cleanLine(parameter)] as const,
  );
  const width = Math.max(0, ...pairs.map(([path]) => path.length));
  return pairs.map(([path, parameter]) => `${out.dim(path.padEnd(width))} ${out.dim("→")} ${parameter}`);
}

/** The schedules of a deployment with their next runs, one line each. */
export function scheduleLines(deployment: Deployment): string[] {
  const width = Math.max(0, ...deployment.schedules.map(({ name }) => name.length));
  return deployment.schedules.map((schedule) => {
    const next = schedule.nextRunAt === undefined ? "" : `, next ${ago(schedule.nextRunAt)}`;
    const state = schedule.enabled ? next : `, ${out.dim("disabled")}`;
    return `${schedule.name.padEnd(width)}  ${cleanLine(schedule.cron)} ${cleanLine(schedule.timezone)}${state}`;
  });
}

function targets(title: string, list: readonly DeployedTarget[]): string {
  const width = Math.max(0, ...list.map(({ name }) => name.length));
  return section(
    title,
    list.map((target) => {
      const display = target.displayName === target.name ? "" : `  ${cleanLine(target.displayName)}`;
      const retries = target.maxRetries === 0 ? "" : `, ${count(target.maxRetries, "retry", "retries")}`;
      return `${target.name.padEnd(width)}${display}  ${out.dim(`timeout ${duration(target.timeout * 1000)}${retries}`)}`;
    }),
  );
}

function fileLines(deployment: Deployment): string[] {
  const sizes = deployment.files.map((file) => bytes(file.sizeBytes));
  const width = Math.max(0, ...sizes.map((size) => size.length));
  return deployment.files.map(
    (file, index) => `${(sizes[index] ?? "").padStart(width)}  ${cleanLine(file.path)}`,
  );
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${out.bold(title)}\n${indent(lines.join("\n"))}`;
}
