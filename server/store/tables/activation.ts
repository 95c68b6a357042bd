/**
 * The targets, webhooks and schedules of active deployments. Activation, rollback and deletion are one transaction each, so
 * that code, mappings, webhooks and schedules change together or not at all.
 */
import type { ScheduleDefinition, TargetDefinition, TargetKind } from "../../../project/definition.ts";
import { orderedId } from "../../ids.ts";
import { all, each, first, notify, type Program, run } from "../engine.ts";
import { type Actor, type DeploymentRow, getActiveDeployment, insertEvent } from "./deployments.ts";

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

export interface TypedTargetRow extends TargetRow {
  /** 1 when the target declares a schema for its input. */
  has_input_schema: number;
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

const SELECT_TARGET = `SELECT targets.*, (SELECT COUNT(*) FROM target_schemas s WHERE s.org_id = targets.org_id
  AND s.deployment_id = targets.deployment_id AND s.name = targets.name AND s.input IS NOT NULL) AS has_input_schema
FROM targets WHERE org_id = ?1 AND environment = ?2 AND name = ?3`;
const SELECT_HOLDERS = `SELECT targets.* FROM targets, ROWS(name text) r
WHERE targets.org_id = ?1 AND targets.environment = ?2 AND targets.name = r.name AND targets.project <> ?3`;
const INSERT_TARGETS = `INSERT INTO targets (org_id, environment, name, kind, project, deployment_id, definition)
SELECT ?1, ?2, r.name, r.kind, ?3, ?4, r.definition FROM ROWS(name text, kind text, definition text) r`;
const DELETE_TARGETS = "DELETE FROM targets WHERE org_id = ?1 AND environment = ?2 AND project = ?3";
const INSERT_WEBHOOKS = `INSERT INTO webhooks (org_id, environment, kind, name, slug, position, project, deployment_id,
  definition, gone)
SELECT ?1, ?2, r.kind, r.name, r.slug, r.position, ?3, ?4, r.definition, 0
FROM ROWS(kind text, name text, slug text, position int, definition text) r`;
const DELETE_WEBHOOKS = "DELETE FROM webhooks WHERE org_id = ?1 AND environment = ?2 AND project = ?3";
const DELETE_GONE_WEBHOOKS = `DELETE FROM webhooks USING ROWS(name text) r
WHERE webhooks.org_id = ?1 AND webhooks.environment = ?2 AND webhooks.name = r.name AND webhooks.gone = 1`;
const CLOSE_WEBHOOKS = "UPDATE webhooks SET gone = 1 WHERE org_id = ?1 AND deployment_id = ?2";
const SELECT_WEBHOOKS = `SELECT webhooks.* FROM webhooks
JOIN deployments ON deployments.org_id = webhooks.org_id AND deployments.deployment_id = webhooks.deployment_id
WHERE webhooks.org_id = ?1 AND webhooks.environment = ?2 AND webhooks.gone = 0
  AND (?3 = '' OR deployments.created_by = ?3)
ORDER BY webhooks.kind, webhooks.name, webhooks.position`;
const SELECT_ALL_WEBHOOKS_OF = "SELECT * FROM webhooks WHERE org_id = ?1";
const SUPERSEDE = `UPDATE deployments SET status = 'superseded' WHERE org_id = ?1 AND deployment_id = ?2`;
const ACTIVATE = `UPDATE deployments SET status = 'active', activated_at = ?1
WHERE org_id = ?2 AND deployment_id = ?3`;
const DELETE = `UPDATE deployments SET status = 'deleted' WHERE org_id = ?1 AND deployment_id = ?2`;
const DELETE_ACTIVE_TARGETS = "DELETE FROM targets WHERE org_id = ?1 AND deployment_id = ?2";
const STOP_SCHEDULES_OF_PROJECT = `UPDATE schedules SET deployment_id = NULL, next_due_at = NULL
WHERE org_id = ?1 AND environment = ?2 AND project = ?3`;
const STOP_SCHEDULES_OF_DEPLOYMENT = `UPDATE schedules SET deployment_id = NULL, next_due_at = NULL
WHERE org_id = ?1 AND deployment_id = ?2`;
const UPSERT_SCHEDULES = `INSERT INTO schedules (org_id, schedule_id, environment, kind, name, project, deployment_id,
  definition, next_due_at)
SELECT ?1, r.schedule_id, ?2, r.kind, r.name, ?3, ?4, r.definition, r.next_due_at
FROM ROWS(schedule_id text, kind text, name text, definition text, next_due_at int) r WHERE true
ON CONFLICT (org_id, environment, name) DO UPDATE SET kind = excluded.kind, project = excluded.project,
  deployment_id = excluded.deployment_id, definition = excluded.definition,
  next_due_at = CASE WHEN schedules.paused = 1 THEN NULL ELSE excluded.next_due_at END`;

/** Activates a deployment in its project and environment. Returns the id of the superseded deployment. */
export function* activate(work: Activation): Program<string | null> {
  const { deployment, actor, nowMs } = work;
  const { org_id, environment, project, deployment_id } = deployment;
  const scope = [org_id, environment, project, deployment_id] as const;
  const names = work.targets.map(({ name }) => [name]);
  const [holder] = yield* each<TargetRow>(SELECT_HOLDERS, names, org_id, environment, project);
  if (holder !== undefined) throw new NameConflict(holder.kind, holder.name, holder.project);
  const before = yield* getActiveDeployment(org_id, environment, project);
  if (before !== undefined && before.deployment_id !== deployment_id) {
    yield* run(SUPERSEDE, org_id, before.deployment_id);
    yield* insertEvent(org_id, before.deployment_id, "superseded", nowMs, actor);
  }
  yield* run(DELETE_TARGETS, org_id, environment, project);
  yield* run(DELETE_WEBHOOKS, org_id, environment, project);
  yield* run(STOP_SCHEDULES_OF_PROJECT, org_id, environment, project);
  const targets = work.targets.map((target) => [target.name, target.kind, JSON.stringify(target)]);
  yield* each(INSERT_TARGETS, targets, ...scope);
  yield* each(DELETE_GONE_WEBHOOKS, names, org_id, environment);
  const webhooks = work.targets.flatMap(({ kind, name, webhooks }) =>
    webhooks.map((webhook, position) => [kind, name, webhook.slug, position, JSON.stringify(webhook)]),
  );
  yield* each(INSERT_WEBHOOKS, webhooks, ...scope);
  const schedules = work.schedules.map(({ definition, nextDueAt }) => {
    const { kind, name } = definition;
    return [orderedId("sch"), kind, name, JSON.stringify(definition), nextDueAt];
  });
  yield* each(UPSERT_SCHEDULES, schedules, ...scope);
  yield* run(ACTIVATE, nowMs, org_id, deployment_id);
  yield* insertEvent(org_id, deployment_id, "activated", nowMs, actor);
  yield* notify("routes", org_id);
  return before === undefined || before.deployment_id === deployment_id ? null : before.deployment_id;
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
  yield* notify("routes", orgId);
}

/** The active agent or workflow of a name. */
export function* getTarget(
  orgId: string,
  environment: string,
  name: string,
): Program<TypedTargetRow | undefined> {
  return yield* first<TypedTargetRow>(SELECT_TARGET, orgId, environment, name);
}

/**
 * The webhooks of one environment without closed ones, by kind, name and their order in the project file.
 *
 * @param keyId - selects the webhooks of deployments that were pushed with this API key; empty for all
 */
export function* listWebhooks(orgId: string, environment: string, keyId: string): Program<WebhookRow[]> {
  return yield* all<WebhookRow>(SELECT_WEBHOOKS, orgId, environment, keyId);
}

/** All webhooks of an organization, including closed ones, for the route cache. */
export function* listRoutes(orgId: string): Program<WebhookRow[]> {
  return yield* all<WebhookRow>(SELECT_ALL_WEBHOOKS_OF, orgId);
}
