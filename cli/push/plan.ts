import type { ProjectDefinition, ScheduleDefinition, TargetDefinition } from "../../project/definition.ts";
import type {
  DeployedSchedule,
  DeployedTarget,
  DeployedWebhook,
  Deployment,
} from "../../proto/svc/v1/deployment_pb.ts";

/**
 * What a push would change.
 *
 * Glossary: an *item* is an agent, a workflow, a webhook, a schedule or a file. Items of both sides are matched by
 * their *key* (`triage`, `triage/github-issue`, `agents/triage.ts`) and compared by their *traits*, each a word with
 * its value as people read it.
 */
export interface Plan {
  agents: Change[];
  workflows: Change[];
  webhooks: Change[];
  schedules: Change[];
  files: Change[];
}

export interface Change {
  change: "added" | "changed" | "removed";
  key: string;
  /** Of a changed item: what is different, for example `timeout: 300 s → 60 s`. */
  details: string[];
}

/** A file as it would be packaged. */
export interface PlannedFile {
  /** With `/` between segments. */
  path: string;
  sizeBytes: number;
  /** SHA-256 of the content, 64 lower-case hexadecimal digits. */
  digest: string;
}

/** Compares a project with what is active; with null for an active deployment everything is new. */
export function planPush(
  project: { definition: ProjectDefinition; files: readonly PlannedFile[] },
  active: Deployment | null,
): Plan {
  const { definition, files } = project;
  const deployedFiles = new Map(active?.files.map((file) => [file.path, { content: file.digest }]));
  const fileChanges = compare(
    deployedFiles,
    new Map(files.map((file) => [file.path, { content: file.digest }])),
  );
  const changedFiles = new Set(fileChanges.map(({ key }) => key));
  const local = (targets: readonly TargetDefinition[]): Items =>
    new Map(targets.map((target) => [target.name, definedTarget(target)]));
  const targets = (kind: "agents" | "workflows"): Change[] =>
    withCode(
      compare(deployedTargets(active?.[kind]), local(definition[kind])),
      definition[kind],
      changedFiles,
    );
  return {
    agents: targets("agents"),
    workflows: targets("workflows"),
    webhooks: compare(
      new Map(
        active?.webhooks.map((webhook) => [`${webhook.name}/${webhook.slug}`, deployedWebhook(webhook)]),
      ),
      definedWebhooks(definition),
    ),
    schedules: compare(
      new Map(active?.schedules.map((schedule) => [schedule.name, scheduleTraits(schedule)])),
      new Map(definition.schedules.map((schedule) => [schedule.name, scheduleTraits(schedule)])),
    ),
    files: fileChanges.map((change) => ({ ...change, details: [] })),
  };
}

/** Whether anything would change. */
export function isEmpty(plan: Plan): boolean {
  return Object.values(plan).every((changes) => changes.length === 0);
}

type Traits = Readonly<Record<string, string>>;
type Items = ReadonlyMap<string, Traits>;

/** Added and changed items in the order of `after`, then the removed ones. */
function compare(before: Items, after: Items): Change[] {
  const changes: Change[] = [];
  for (const [key, traits] of after) {
    const old = before.get(key);
    if (old === undefined) changes.push({ change: "added", key, details: [] });
    else {
      const details = differences(old, traits);
      if (details.length > 0) changes.push({ change: "changed", key, details });
    }
  }
  for (const key of before.keys()) {
    if (!after.has(key)) changes.push({ change: "removed", key, details: [] });
  }
  return changes;
}

function differences(before: Traits, after: Traits): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${before[name] ?? "none"} → ${after[name] ?? "none"}`);
}

/** Marks the agents and workflows whose own module is another one now, which no trait shows. */
function withCode(
  changes: Change[],
  targets: readonly TargetDefinition[],
  changedFiles: Set<string>,
): Change[] {
  const result = [...changes];
  for (const { name, module } of targets) {
    if (!changedFiles.has(module)) continue;
    const known = result.find(({ key }) => key === name);
    if (known === undefined) result.push({ change: "changed", key: name, details: ["code"] });
    else if (known.change === "changed") known.details.push("code");
  }
  return result;
}

function definedTarget(target: TargetDefinition): Traits {
  return targetTraits(target.displayName, target.timeoutSeconds, target.retry?.maxRetries ?? 0);
}

function deployedTargets(targets: readonly DeployedTarget[] = []): Items {
  return new Map(
    targets.map(({ name, displayName, timeout, maxRetries }) => [
      name,
      targetTraits(displayName, timeout, maxRetries),
    ]),
  );
}

function targetTraits(displayName: string, timeoutSeconds: number, maxRetries: number): Traits {
  return { display_name: displayName, timeout: `${timeoutSeconds} s`, retries: String(maxRetries) };
}

function definedWebhooks(definition: ProjectDefinition): Items {
  return new Map(
    [...definition.agents, ...definition.workflows].flatMap(({ name, webhooks }) =>
      webhooks.map((webhook) => {
        const mapping = webhook.fieldMapping.map(({ path, parameter }) => [path, parameter] as const);
        return [`${name}/${webhook.slug}`, webhookTraits(mapping, webhook.signature?.scheme)] as const;
      }),
    ),
  );
}

function deployedWebhook(webhook: DeployedWebhook): Traits {
  return webhookTraits(Object.entries(webhook.fieldMapping), webhook.signatureScheme || undefined);
}

/** Each path of a mapping is a trait of its own, so that one changed line shows as one. */
function webhookTraits(mapping: readonly (readonly [string, string])[], scheme: string | undefined): Traits {
  const pairs = mapping.map(([path, parameter]) => [`field_mapping ${path}`, parameter] as const);
  return Object.fromEntries([...pairs, ...(scheme === undefined ? [] : [["signature", scheme] as const])]);
}

function scheduleTraits({ cron, timezone, enabled }: ScheduleDefinition | DeployedSchedule): Traits {
  return { cron, timezone, enabled: String(enabled) };
}
