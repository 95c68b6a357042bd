import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import type { DeployedTarget, Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import type { Items, Side, Traits } from "./changes.ts";

/** A file as it would be packaged. */
export interface PlannedFile {
  /** With `/` between segments. */
  path: string;
  /** SHA-256 of the content, 64 lower-case hexadecimal digits. */
  digest: string;
}

/** The side of a project that is about to be pushed. */
export function sideOfProject(definition: ProjectDefinition, files: readonly PlannedFile[]): Side {
  const targets = (list: readonly TargetDefinition[]): Items =>
    new Map(
      list.map(({ name, displayName, timeoutSeconds, retry }) => [
        name,
        targetTraits(displayName, timeoutSeconds, retry?.maxRetries ?? 0),
      ]),
    );
  return {
    agents: targets(definition.agents),
    workflows: targets(definition.workflows),
    webhooks: new Map(
      [...definition.agents, ...definition.workflows].flatMap(({ name, webhooks }) =>
        webhooks.map(({ slug, fieldMapping, signature }) => {
          const pairs = fieldMapping.map(({ path, parameter }) => [path, parameter] as const);
          return [`${name}/${slug}`, webhookTraits(pairs, signature?.scheme ?? "")] as const;
        }),
      ),
    ),
    schedules: new Map(definition.schedules.map((schedule) => [schedule.name, scheduleTraits(schedule)])),
    files: new Map(files.map(({ path, digest }) => [path, { digest }])),
  };
}

/** The side of a deployment, which must have been asked for with its files. */
export function sideOfDeployment(deployment: Deployment): Side {
  const targets = (list: readonly DeployedTarget[]): Items =>
    new Map(
      list.map(({ name, displayName, timeout, maxRetries }) => [
        name,
        targetTraits(displayName, timeout, maxRetries),
      ]),
    );
  return {
    agents: targets(deployment.agents),
    workflows: targets(deployment.workflows),
    webhooks: new Map(
      deployment.webhooks.map(({ name, slug, fieldMapping, signatureScheme }) => [
        `${name}/${slug}`,
        webhookTraits(Object.entries(fieldMapping), signatureScheme),
      ]),
    ),
    schedules: new Map(deployment.schedules.map((schedule) => [schedule.name, scheduleTraits(schedule)])),
    files: new Map(deployment.files.map(({ path, digest }) => [path, { digest }])),
  };
}

function targetTraits(displayName: string, timeoutSeconds: number, maxRetries: number): Traits {
  return { display_name: displayName, timeout: `${timeoutSeconds} s`, retries: String(maxRetries) };
}

/** Each path of a mapping is a trait of its own, so that one changed line shows as one. */
function webhookTraits(mapping: readonly (readonly [string, string])[], scheme: string): Traits {
  const pairs = mapping.map(([path, parameter]) => [`field_mapping ${path}`, parameter] as const);
  return { ...Object.fromEntries(pairs), ...(scheme !== "" && { signature: scheme }) };
}

function scheduleTraits({
  cron,
  timezone,
  enabled,
}: {
  cron: string;
  timezone: string;
  enabled: boolean;
}): Traits {
  return { cron, timezone, enabled: String(enabled) };
}
