/** The steps that push, rollback and deletion share. */
import type { ProjectDefinition } from "../../../project/definition.ts";
import { fail } from "../../errors.ts";
import { nextDue } from "../../schedules/next-due.ts";
import { processDueTicksOfProject } from "../../schedules/ticks.ts";
import type { Program } from "../../store/engine.ts";
import { type Activation, activate, NameConflict } from "../../store/tables/activation.ts";
import type { Actor, DeploymentRow } from "../../store/tables/deployments.ts";
import { parseStored } from "../../store/tables/json.ts";
import { lockOrganization } from "../../store/tables/organizations.ts";
import type { App } from "../app.ts";

/** The rows that the activation of a deployment writes now. */
export function activationOf(row: DeploymentRow, actor: Actor): Activation {
  const definition = parseStored<ProjectDefinition>(row.definition);
  const nowMs = Date.now();
  return {
    deployment: row,
    targets: [...definition.agents, ...definition.workflows],
    schedules: definition.schedules.map((schedule) => ({
      definition: schedule,
      nextDueAt: nextDue(schedule, nowMs),
    })),
    actor,
    nowMs,
  };
}

/** Activates a deployment, after the due ticks of its predecessor's schedules. */
export function* switchTo(work: Activation): Program<void> {
  yield* lockOrganization(work.deployment.org_id);
  yield* processDueTicksOfProject(work.deployment, work.nowMs);
  yield* activate(work);
}

/** Updates the runners and the log after an activation. */
export function afterActivation(app: App, row: DeploymentRow): void {
  // A runner that cannot start reports its error at the first execution.
  app.pools.warm(row.deployment_id).catch(() => {});
  logDeployment(
    app,
    row,
    `Deployment ${row.deployment_id} of '${row.project}' is active in ${row.environment}.`,
  );
}

export function logDeployment(app: App, row: DeploymentRow, message: string): void {
  app.logs.add([
    {
      org_id: row.org_id,
      at: Date.now(),
      level: "info",
      source: "deployment",
      message,
      execution_id: null,
      deployment_id: row.deployment_id,
      name: null,
      environment: row.environment,
    },
  ]);
}

export function rethrowConflict(error: unknown): never {
  if (!(error instanceof NameConflict)) throw error;
  throw fail(
    "NAME_TAKEN",
    `Cannot activate: the ${error.kind} '${error.target}' belongs to project '${error.project}' in this environment; rename one of them.`,
  );
}

export function deploymentName(row: DeploymentRow): string {
  return `${row.deployment_id} of '${row.project}' ${row.version} in ${row.environment}`;
}

export function aboutOf(row: DeploymentRow): { deploymentId: string; environment: string } {
  return { deploymentId: row.deployment_id, environment: row.environment };
}
