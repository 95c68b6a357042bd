/** Deployments and their events. `activation.ts` has the targets, webhooks and schedules of active deployments. */
import { all, each, first, type Program, run } from "../engine.ts";

type DeploymentStatus = "pending" | "active" | "superseded" | "failed" | "deleted";

export interface DeploymentRow {
  org_id: string;
  deployment_id: string;
  project: string;
  version: string;
  environment: string;
  status: DeploymentStatus;
  digest: string;
  size_bytes: number;
  file_count: number;
  /** JSON of a ProjectDefinition. */
  definition: string;
  /** JSON of the packaged files. */
  files: string;
  /** The deployment that was promoted. Null for a push. */
  source_deployment_id: string | null;
  created_by: string;
  created_by_name: string;
  created_at: number;
  activated_at: number | null;
  error: string;
}

export interface EventRow {
  at: number;
  event: string;
  key_id: string | null;
  key_name: string | null;
}

export interface Actor {
  keyId: string;
  keyName: string;
}

export interface DeploymentFilter {
  environment: string;
  project: string;
  status: string;
  /** Returns only deployments with a smaller id. No limit when empty. */
  before: string;
  limit: number;
}

const INSERT = `INSERT INTO deployments (org_id, deployment_id, project, version, environment, status, digest, size_bytes,
  file_count, definition, files, source_deployment_id, created_by, created_by_name, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, 'pending', ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)`;
const SELECT = "SELECT * FROM deployments WHERE org_id = ?1 AND deployment_id = ?2";
const SELECT_BY_ID = "SELECT * FROM deployments WHERE deployment_id = ?1";
const SELECT_PAGE = `SELECT * FROM deployments
WHERE org_id = ?1 AND (?2 = '' OR environment = ?2) AND (?3 = '' OR project = ?3) AND (?4 = '' OR status = ?4)
  AND (?5 = '' OR deployment_id < ?5)
ORDER BY deployment_id DESC LIMIT ?6`;
const SELECT_ACTIVE = `SELECT * FROM deployments
WHERE org_id = ?1 AND environment = ?2 AND project = ?3 AND status = 'active'`;
const SET_FAILED = `UPDATE deployments SET status = 'failed', error = ?1
WHERE org_id = ?2 AND deployment_id = ?3 AND status = 'pending' RETURNING deployment_id`;
const INSERT_EVENTS = `INSERT INTO deployment_events (org_id, deployment_id, at, event, key_id, key_name)
SELECT r.org_id, r.deployment_id, r.at, r.event, r.key_id, r.key_name
FROM ROWS(org_id text, deployment_id text, at int, event text, key_id text, key_name text) r`;
const SELECT_EVENTS = `SELECT at, event, key_id, key_name FROM deployment_events
WHERE org_id = ?1 AND deployment_id = ?2 ORDER BY at, seq`;
const FAIL_ABANDONED = `UPDATE deployments SET status = 'failed',
  error = 'The server stopped before the deployment was activated; push it again.'
WHERE status = 'pending' AND created_at <= ?1 RETURNING org_id, deployment_id`;

export function* insertDeployment(
  row: Omit<DeploymentRow, "status" | "activated_at" | "error">,
): Program<void> {
  yield* run(
    INSERT,
    row.org_id,
    row.deployment_id,
    row.project,
    row.version,
    row.environment,
    row.digest,
    row.size_bytes,
    row.file_count,
    row.definition,
    row.files,
    row.source_deployment_id,
    row.created_by,
    row.created_by_name,
    row.created_at,
  );
}

export function* getDeployment(orgId: string, deploymentId: string): Program<DeploymentRow | undefined> {
  return yield* first<DeploymentRow>(SELECT, orgId, deploymentId);
}

/** Finds a deployment in any organization. For internal use: requests from clients are limited to their organization. */
export function* findDeployment(deploymentId: string): Program<DeploymentRow | undefined> {
  return yield* first<DeploymentRow>(SELECT_BY_ID, deploymentId);
}

export function* getActiveDeployment(
  orgId: string,
  environment: string,
  project: string,
): Program<DeploymentRow | undefined> {
  return yield* first<DeploymentRow>(SELECT_ACTIVE, orgId, environment, project);
}

export function* listDeployments(orgId: string, filter: DeploymentFilter): Program<DeploymentRow[]> {
  return yield* all<DeploymentRow>(
    SELECT_PAGE,
    orgId,
    filter.environment,
    filter.project,
    filter.status,
    filter.before,
    filter.limit,
  );
}

export function* failDeployment(
  orgId: string,
  deploymentId: string,
  error: string,
  nowMs: number,
): Program<void> {
  // It may have been deleted meanwhile.
  if ((yield* first(SET_FAILED, error, orgId, deploymentId)) === undefined) return;
  yield* insertEvent(orgId, deploymentId, "failed", nowMs, null);
}

/** Marks the pending deployments failed that were registered until a time, because their server has ended. */
export function* failAbandoned(untilMs: number, nowMs: number): Program<void> {
  const rows = yield* all<{ org_id: string; deployment_id: string }>(FAIL_ABANDONED, untilMs);
  yield* each(
    INSERT_EVENTS,
    rows.map((row) => [row.org_id, row.deployment_id, nowMs, "failed", null, null]),
  );
}

export function* insertEvent(
  orgId: string,
  deploymentId: string,
  event: string,
  nowMs: number,
  actor: Actor | null,
): Program<void> {
  const row = [orgId, deploymentId, nowMs, event, actor?.keyId ?? null, actor?.keyName ?? null];
  yield* each(INSERT_EVENTS, [row]);
}

export function* listEvents(orgId: string, deploymentId: string): Program<EventRow[]> {
  return yield* all<EventRow>(SELECT_EVENTS, orgId, deploymentId);
}
