/** Runs one attempt of a claimed execution in the pool of its deployment. */
import type { ProjectDefinition, RetryPolicy, TargetDefinition, Vars } from "../../project/definition.ts";
import { varsOf } from "../../project/vars.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { OpenedSecrets } from "../secrets/vault.ts";
import { parseStored } from "../store/tables/json.ts";
import type { RunningExecution } from "../store/tables/leases.ts";
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

/** Returns the outcome without values of secrets, and the retry policy. Never rejects. */
export async function runAttempt(
  sources: AttemptSources,
  row: RunningExecution,
  pools: Pools,
  trace: string | null = null,
): Promise<{ outcome: Outcome; retry: RetryPolicy | null }> {
  let retry: RetryPolicy | null = row.kind === "alert" ? alertRetries : null;
  try {
    const definition = await sources.definitionOf(row.org_id, row.deployment_id);
    const target = targetOf(definition, row);
    retry = target?.retry ?? retry;
    const outcome = await (row.kind === "alert"
      ? sendAlert(sources, row, definition)
      : run(sources, row, target, varsOf(definition, row.environment), pools, trace));
    const redactor = sources.redactorOf(row.org_id);
    return { outcome: redactor === undefined ? outcome : redactOutcome(redactor, outcome), retry };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      outcome: { type: "lost", reason: `The attempt could not be started: ${reason}`, suspect: false },
      retry,
    };
  }
}

function targetOf({ agents, workflows }: ProjectDefinition, { kind, name }: RunningExecution) {
  const targets = { agent: agents, workflow: workflows, alert: [] }[kind];
  return targets.find((candidate) => candidate.name === name);
}

async function sendAlert(
  sources: AttemptSources,
  row: RunningExecution,
  { onFailure }: ProjectDefinition,
): Promise<Outcome> {
  const { values } = await sources.secretsOf(row.org_id, row.environment);
  if (row.cancel_requested === 1) return { type: "cancelled" };
  return deliverAlert(row, onFailure, values, sources.post);
}

async function run(
  sources: AttemptSources,
  row: RunningExecution,
  target: TargetDefinition | undefined,
  vars: Vars,
  pools: Pools,
  trace: string | null,
): Promise<Outcome> {
  if (target === undefined) {
    const message = `The deployment has no ${row.kind} '${row.name}'.`;
    const error = { name: "NotFoundError", message, stack: "" };
    return { type: "failed", error, final: true, reason: "load" };
  }
  const { values, unreadable } = await sources.secretsOf(row.org_id, row.environment);
  if (row.cancel_requested === 1) return { type: "cancelled" };
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
    secrets: { ...values },
    unreadableSecrets: unreadable,
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
