/**
 * Creates the execution that reports a failure. The project file names an agent or a workflow in `on_failure`, or a
 * webhook, whose request is an execution of the kind `alert`. The execution is created in the transaction of the failure:
 * a crash does not lose it, and exactly one worker claims it. A separate table for alerts was rejected, because it needs
 * leases, retries, retention and commands of its own.
 *
 * Three kinds of failure are not reported. The first two could start an endless chain of reports:
 * - of an execution that reports a failure,
 * - of the agent or workflow of `on_failure`, however it was started,
 * - of a child execution, because its workflow receives the error.
 */
import type { FailureHook, ProjectDefinition } from "../../../project/definition.ts";
import { orderedId } from "../../ids.ts";
import type { Program } from "../../store/engine.ts";
import { takeAlerts } from "../../store/tables/alerts.ts";
import { getDeployment } from "../../store/tables/deployments.ts";
import { parseStored } from "../../store/tables/json.ts";
import type { RunningExecution } from "../../store/tables/leases.ts";
import { insertExecutions, type NewExecution } from "../../store/tables/new-executions.ts";
import type { StoredError } from "../states.ts";

/** The name of executions of the kind `alert`. */
export const alertName = "on_failure";
const maxMessageLength = 2_000;

export interface Failure {
  row: RunningExecution;
  error: StoredError;
  atMs: number;
}

/** Queues the reports of executions that have failed for good, as far as the rate of alerts allows. */
export function* createAlerts(failures: readonly Failure[]): Program<void> {
  const eligible = failures.filter(({ row }) => mayReport(row));
  if (eligible.length === 0) return;
  const definitions = new Map<string, ProjectDefinition>();
  const groups = new Map<string, Failure[]>();
  for (const failure of eligible) {
    const { org_id, deployment_id, environment } = failure.row;
    let definition = definitions.get(deployment_id);
    if (definition === undefined) {
      const deployment = yield* getDeployment(org_id, deployment_id);
      if (deployment === undefined) continue;
      definition = parseStored<ProjectDefinition>(deployment.definition);
      definitions.set(deployment_id, definition);
    }
    if (!isReported(definition, failure.row)) continue;
    const key = JSON.stringify([org_id, definition.name, environment]);
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  const alerts: NewExecution[] = [];
  // In one order in all processes, because each group locks a row.
  for (const [key, group] of [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [orgId, project, environment] = JSON.parse(key) as [string, string, string];
    const { admitted, suppressed } = yield* takeAlerts(
      { orgId, project, environment },
      group.length,
      Date.now(),
    );
    for (const [index, failure] of group.slice(0, admitted).entries()) {
      const definition = definitions.get(failure.row.deployment_id);
      if (definition?.onFailure === undefined) continue;
      alerts.push(toExecution(definition, definition.onFailure, failure, index === 0 ? suppressed : 0));
    }
  }
  if (alerts.length > 0) yield* insertExecutions(alerts);
}

function mayReport({ kind, origin, depth }: RunningExecution): boolean {
  return kind !== "alert" && origin !== "failure" && depth === 0;
}

function isReported(
  { onFailure, agents, workflows }: ProjectDefinition,
  { name }: RunningExecution,
): boolean {
  if (onFailure === undefined || ("name" in onFailure && onFailure.name === name)) return false;
  return [...agents, ...workflows].find((target) => target.name === name)?.onFailure !== false;
}

function toExecution(
  { name: project, version }: ProjectDefinition,
  hook: FailureHook,
  { row, error, atMs }: Failure,
  suppressed: number,
): NewExecution {
  const payload = {
    type: "execution.failed",
    timestamp: new Date(atMs).toISOString(),
    data: {
      execution_id: row.execution_id,
      kind: row.kind,
      name: row.name,
      trigger: row.origin,
      project,
      version,
      deployment_id: row.deployment_id,
      environment: row.environment,
      attempts: row.attempt,
      error: { name: error.name, message: cut(error.message) },
      created_at: new Date(row.created_at).toISOString(),
      path: `/api/v1/executions/${row.execution_id}`,
      suppressed,
    },
  };
  return {
    org_id: row.org_id,
    execution_id: orderedId("exe", atMs),
    ...("url" in hook ? { kind: "alert", name: alertName } : hook),
    origin: "failure",
    trace: row.trace,
    deployment_id: row.deployment_id,
    environment: row.environment,
    input: JSON.stringify(payload),
    created_at: atMs,
  };
}

function cut(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
}
