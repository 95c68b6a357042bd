/** Runs one attempt of a claimed execution in the pool of its deployment. */
import type { ProjectDefinition, RetryPolicy, TargetDefinition, Vars } from "../../project/definition.ts";
import { varsOf } from "../../project/vars.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { OpenedSecrets } from "../secrets/vault.ts";
import { parseStored } from "../store/tables/json.ts";
import type { RunningExecution } from "../store/tables/leases.ts";
import { reasonOf } from "../telemetry/log/index.ts";
import { alertRetries, deliverAlert } from "./alerts/deliver.ts";
import type { Post } from "./alerts/post.ts";
import type { Outcome, Pools, Violation } from "./pool/contract.ts";

export interface AttemptSources {
  definitionOf(orgId: string, deploymentId: string): Promise<ProjectDefinition>;
  /** The secrets for the organization's code. */
  secretsOf(orgId: string, environment: string): Promise<OpenedSecrets>;
  /** For the secrets that were given to the organization's code. Undefined when there are none. */
  redactorOf(orgId: string): Redactor | undefined;
  /** Sends alerts. */
  post: Post;
}

/** What the executions of one deployment have in common in one environment. */
export interface AttemptSettings {
  definition: ProjectDefinition;
  secrets: OpenedSecrets;
  vars: Vars;
}

/** @throws Error when the deployment or the secrets cannot be read */
export async function readSettings(
  sources: AttemptSources,
  { org_id, deployment_id, environment }: RunningExecution,
): Promise<AttemptSettings> {
  const definition = await sources.definitionOf(org_id, deployment_id);
  const secrets = await sources.secretsOf(org_id, environment);
  return { definition, secrets, vars: varsOf(definition, environment) };
}

/** Returns the outcome without values of secrets. */
export async function runAttempt(
  sources: AttemptSources,
  settings: AttemptSettings,
  row: RunningExecution,
  pools: Pools,
  trace: string | null = null,
): Promise<Outcome> {
  const outcome = await start(sources, settings, row, pools, trace);
  const redactor = sources.redactorOf(row.org_id);
  return redactor === undefined ? outcome : redactOutcome(redactor, outcome);
}

export function notStarted(error: unknown): Outcome {
  return { type: "lost", reason: `The attempt could not be started: ${reasonOf(error)}`, suspect: false };
}

export function retryOf(settings: AttemptSettings, row: RunningExecution): RetryPolicy | null {
  return row.kind === "alert" ? alertRetries : (targetOf(settings.definition, row)?.retry ?? null);
}

function targetOf(
  { agents, workflows }: ProjectDefinition,
  { kind, name }: RunningExecution,
): TargetDefinition | undefined {
  return (kind === "agent" ? agents : workflows).find((candidate) => candidate.name === name);
}

function start(
  { post }: AttemptSources,
  { definition, secrets, vars }: AttemptSettings,
  row: RunningExecution,
  pools: Pools,
  trace: string | null,
): Outcome | Promise<Outcome> {
  if (row.cancel_requested === 1) return { type: "cancelled" };
  if (row.kind === "alert") return deliverAlert(row, definition.onFailure, secrets.values, post);
  const target = targetOf(definition, row);
  if (target === undefined) {
    const message = `The deployment has no ${row.kind} '${row.name}'.`;
    const error = { name: "NotFoundError", message, stack: "" };
    return { type: "failed", error, final: true, reason: "load" };
  }
  return pools.run({
    executionId: row.execution_id,
    organizationId: row.org_id,
    deploymentId: row.deployment_id,
    environment: row.environment,
    kind: target.kind,
    name: row.name,
    module: target.module,
    input: parseStored(row.input),
    attemptNumber: row.attempt,
    trigger: row.origin,
    timeoutMs: target.timeoutSeconds * 1000,
    secrets: secrets.values,
    unreadableSecrets: secrets.unreadable,
    vars,
    alone: row.alone === 1,
    trace,
  });
}

function redactOutcome(redactor: Redactor, outcome: Outcome): Outcome {
  switch (outcome.type) {
    case "succeeded":
      return { ...outcome, output: redactor.redactJson(outcome.output) };
    case "failed": {
      const { name, message, stack, violations } = outcome.error;
      const error = {
        name: redactor.redact(name),
        message: redactor.redact(message),
        stack: redactor.redact(stack),
        ...(violations !== undefined && { violations: redactViolations(redactor, violations) }),
      };
      return { ...outcome, error };
    }
    case "lost":
      return { ...outcome, reason: redactor.redact(outcome.reason) };
    case "cancelled":
      return outcome;
  }
}

/** Replaces secrets in the texts of violations: schemas may quote the value. */
export function redactViolations(redactor: Redactor, violations: readonly Violation[]): Violation[] {
  return violations.map(({ field, description }) => ({
    field: redactor.redact(field),
    description: redactor.redact(description),
  }));
}
