import type { Duration } from "@bufbuild/protobuf/wkt";
import type { DeployedTarget, Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import type { ProjectDefinition, TargetDefinition } from "../definition.ts";
import { webhookSettings } from "../webhook/settings.ts";
import type { Attributes, Items, Snapshot } from "./plan.ts";

/** A file of a package. */
export interface FileDigest {
  /** With `/` between segments. */
  path: string;
  /** SHA-256 of the content, 64 lower-case hexadecimal digits. */
  digest: string;
}

/** The snapshot of a project before it is pushed. */
export function snapshotOfProject(definition: ProjectDefinition, files: readonly FileDigest[]): Snapshot {
  const { agents, workflows, schedules } = definition;
  const targets = (list: readonly TargetDefinition[]): Items =>
    new Map(
      list.map(({ name, displayName, description = "", exposeAsTool = false, timeoutSeconds, retry }) => [
        name,
        {
          ...targetAttributes(displayName, timeoutSeconds, retry?.maxRetries ?? 0),
          ...toolAttributes(description, exposeAsTool),
        },
      ]),
    );
  return {
    agents: targets(agents),
    workflows: targets(workflows),
    webhooks: new Map(
      [...agents, ...workflows].flatMap(({ name, webhooks }) =>
        webhooks.map((webhook) => {
          const { slug, fieldMapping, signature } = webhook;
          const pairs = fieldMapping.map(({ path, parameter }) => [path, parameter] as const);
          const attributes = webhookAttributes(pairs, signature?.scheme ?? "", webhookSettings(webhook));
          return [`${name}/${slug}`, attributes] as const;
        }),
      ),
    ),
    ...schedulesAndFiles(schedules, files),
  };
}

/** The snapshot of a deployment that was requested with its files. */
export function snapshotOfDeployment(deployment: Deployment): Snapshot {
  const targets = (list: readonly DeployedTarget[]): Items =>
    new Map(
      list.map(({ name, displayName, description, exposeAsTool, timeout, maxRetries }) => [
        name,
        {
          ...targetAttributes(displayName, secondsOf(timeout), maxRetries),
          ...toolAttributes(description, exposeAsTool),
        },
      ]),
    );
  return {
    agents: targets(deployment.agents),
    workflows: targets(deployment.workflows),
    webhooks: new Map(
      deployment.webhooks.map(({ name, slug, fieldMapping, signatureScheme, settings }) => [
        `${name}/${slug}`,
        webhookAttributes(Object.entries(fieldMapping), signatureScheme, settings),
      ]),
    ),
    ...schedulesAndFiles(deployment.schedules, deployment.files),
  };
}

function targetAttributes(displayName: string, timeoutSeconds: number, maxRetries: number): Attributes {
  return { display_name: displayName, timeout: `${timeoutSeconds} s`, retries: String(maxRetries) };
}

function secondsOf(duration: Duration | undefined): number {
  return duration === undefined ? 0 : Number(duration.seconds) + duration.nanos / 1e9;
}

function toolAttributes(description: string, exposeAsTool: boolean): Attributes {
  return { ...(description !== "" && { description }), expose_as_tool: String(exposeAsTool) };
}

/** Each path of a mapping is an attribute of its own, so that a changed entry is one line of the plan. */
function webhookAttributes(
  mapping: readonly (readonly [string, string])[],
  scheme: string,
  settings: Readonly<Record<string, string>>,
): Attributes {
  const pairs = mapping.map(([path, parameter]) => [`field_mapping ${path}`, parameter] as const);
  return { ...Object.fromEntries(pairs), ...(scheme !== "" && { signature: scheme }), ...settings };
}

function schedulesAndFiles(
  schedules: readonly { name: string; cron: string; timezone: string; enabled: boolean }[],
  files: readonly FileDigest[],
): { schedules: Items; files: Items } {
  return {
    schedules: new Map(
      schedules.map(({ name, cron, timezone, enabled }) => [
        name,
        { cron, timezone, enabled: String(enabled) },
      ]),
    ),
    files: new Map(files.map(({ path, digest }) => [path, { digest }])),
  };
}
