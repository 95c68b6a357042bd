/**
 * The targets, webhooks and schedules of active deployments. Activation, rollback and deletion are one transaction each, so
 * that code, mappings, webhooks and schedules change together or not at all.
 */
import type { ScheduleDefinition, TargetDefinition, TargetKind } from "../../project/definition.ts";
import { orderedId } from "../ids.ts";
import { type Actor, type DeploymentRow, getActiveDeployment, insertEvent } from "./deployments.ts";
import { all, first, type Program, run } from "./engine.ts";

export interface TargetRow {
  org_id: string;
  environment: string;
  name: string;
  kind: TargetKind;
  project: string;
  deployment_id: string;
  /** JSON of a TargetDefinition. */
  definition: string;
}

export interface WebhookRow {
  org_id: string;
  environment: string;
  kind: TargetKind;
  name: string;
  slug: string;
  project: string;
  deployment_id: string;
  /** JSON of a WebhookDefinition. */
  definition: string;
  /** 1 when its deployment was deleted. Requests then get status 410. */
  gone: number;
}

/** The rows that an activation writes. */
export interface Activation {
  deployment: DeploymentRow;
  targets: TargetDefinition[];
  schedules: { definition: ScheduleDefinition; nextDueAt: number | null }[];
  actor: Actor | null;
  nowMs: number;
}

/** Another project of the organization uses the name in this environment. */
export class NameConflict extends Error {
  readonly kind: TargetKind;
  readonly target: string;
  readonly project: string;

  constructor(kind: TargetKind, target: string, project: string) {
    super(`The name '${target}' belongs to project '${project}'.`);
    this.kind = kind;
    this.target = target;
    this.project = project;
  }
}

const SELECT_TARGET = "SELECT * FROM targets WHERE org_id = ? AND environment = ? AND name = ?";
const INSERT_TARGET = "INSERT INTO targets VALUES (?, ?, ?, ?, ?, ?, ?)";
const DELETE_TARGETS = "DELETE FROM targets WHERE org_id = ? AND environment = ? AND project = ?";
const INSERT_WEBHOOK = `INSERT INTO webhooks (org_id, environment, kind, name, slug, position, project, deployment_id,
  definition, gone) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`;
const DELETE_WEBHOOKS = "DELETE FROM webhooks WHERE org_id = ? AND environment = ? AND project = ?";
const DELETE_GONE_WEBHOOKS =
  "DELETE FROM webhooks WHERE org_id = ? AND environment = ? AND name = ? AND gone = 1";
const CLOSE_WEBHOOKS = "UPDATE webhooks SET gone = 1 WHERE org_id = ? AND deployment_id = ?";
const SELECT_WEBHOOKS = `SELECT * FROM webhooks WHERE org_id = ? AND environment = ? AND gone = 0
ORDER BY kind, name, position`;
const SELECT_ALL_WEBHOOKS_OF = "SELECT * FROM webhooks WHERE org_id = ?";
const SUPERSEDE = `UPDATE deployments SET status = 'superseded' WHERE org_id = ? AND deployment_id = ?`;
const ACTIVATE = `UPDATE deployments SET status = 'active', activated_at = ?
WHERE org_id = ? AND deployment_id = ?`;
const DELETE = `UPDATE deployments SET status = 'deleted' WHERE org_id = ? AND deployment_id = ?`;
const DELETE_ACTIVE_TARGETS = "DELETE FROM targets WHERE org_id = ? AND deployment_id = ?";
const STOP_SCHEDULES_OF_PROJECT = `UPDATE schedules SET deployment_id = NULL, next_due_at = NULL
WHERE org_id = ? AND environment = ? AND project = ?`;
const STOP_SCHEDULES_OF_DEPLOYMENT = `UPDATE schedules SET deployment_id = NULL, next_due_at = NULL
WHERE org_id = ? AND deployment_id = ?`;
const UPSERT_SCHEDULE = `INSERT INTO schedules (org_id, schedule_id, environment, kind, name, project, deployment_id,
  definition, next_due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (org_id, environment, name) DO UPDATE SET kind = excluded.kind, project = excluded.project,
  deployment_id = excluded.deployment_id, definition = excluded.definition,
  next_due_at = CASE WHEN schedules.paused = 1 THEN NULL ELSE excluded.next_due_at END`;

/** Activates a deployment in its project and environment. Returns the id of the superseded deployment. */
export function* activate(work: Activation): Program<string | null> {
  const { deployment, actor, nowMs } = work;
  const { org_id, environment, project, deployment_id } = deployment;
  for (const target of work.targets) {
    const holder = yield* first<TargetRow>(SELECT_TARGET, org_id, environment, target.name);
    if (holder !== undefined && holder.project !== project) {
      throw new NameConflict(holder.kind, holder.name, holder.project);
    }
  }
  const before = yield* getActiveDeployment(org_id, environment, project);
  if (before !== undefined && before.deployment_id !== deployment_id) {
    yield* run(SUPERSEDE, org_id, before.deployment_id);
    yield* insertEvent(org_id, before.deployment_id, "superseded", nowMs, actor);
  }
  yield* run(DELETE_TARGETS, org_id, environment, project);
  yield* run(DELETE_WEBHOOKS, org_id, environment, project);
  yield* run(STOP_SCHEDULES_OF_PROJECT, org_id, environment, project);
  for (const target of work.targets) yield* insertTarget(deployment, target);
  for (const { definition, nextDueAt } of work.schedules) {
    yield* run(
      UPSERT_SCHEDULE,
      org_id,
      orderedId("sch"),
      environment,
      definition.kind,
      definition.name,
      project,
      deployment_id,
      JSON.stringify(definition),
      nextDueAt,
    );
  }
  yield* run(ACTIVATE, nowMs, org_id, deployment_id);
  yield* insertEvent(org_id, deployment_id, "activated", nowMs, actor);
  return before === undefined || before.deployment_id === deployment_id ? null : before.deployment_id;
}

function* insertTarget(deployment: DeploymentRow, target: TargetDefinition): Program<void> {
  const { org_id, environment, project, deployment_id } = deployment;
  const { kind, name } = target;
  yield* run(INSERT_TARGET, org_id, environment, name, kind, project, deployment_id, JSON.stringify(target));
  yield* run(DELETE_GONE_WEBHOOKS, org_id, environment, name);
  for (const [position, webhook] of target.webhooks.entries()) {
    yield* run(
      INSERT_WEBHOOK,
      org_id,
      environment,
      kind,
      name,
      webhook.slug,
      position,
      project,
      deployment_id,
      JSON.stringify(webhook),
    );
  }
}

/** Marks a deployment deleted. If it was active, removes its targets, closes its webhooks and stops its schedules. */
export function* deleteDeployment(
  orgId: string,
  deploymentId: string,
  actor: Actor | null,
  nowMs: number,
): Program<void> {
  yield* run(DELETE, orgId, deploymentId);
  yield* run(DELETE_ACTIVE_TARGETS, orgId, deploymentId);
  yield* run(CLOSE_WEBHOOKS, orgId, deploymentId);
  yield* run(STOP_SCHEDULES_OF_DEPLOYMENT, orgId, deploymentId);
  yield* insertEvent(orgId, deploymentId, "deleted", nowMs, actor);
}

/** The active agent or workflow of a name. */
export function* getTarget(orgId: string, environment: string, name: string): Program<TargetRow | undefined> {
  return yield* first<TargetRow>(SELECT_TARGET, orgId, environment, name);
}

/** The webhooks of one environment without closed ones, by kind, name and their order in the project file. */
export function* listWebhooks(orgId: string, environment: string): Program<WebhookRow[]> {
  return yield* all<WebhookRow>(SELECT_WEBHOOKS, orgId, environment);
}

/** All webhooks of an organization, including closed ones, for the route cache. */
export function* listRoutes(orgId: string): Program<WebhookRow[]> {
  return yield* all<WebhookRow>(SELECT_ALL_WEBHOOKS_OF, orgId);
}
