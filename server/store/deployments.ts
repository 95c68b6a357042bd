/** Deployments and their events. `activation.ts` has the targets, webhooks and schedules of active deployments. */
import { all, first, type Program, run } from "./engine.ts";

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
VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const SELECT = "SELECT * FROM deployments WHERE org_id = ? AND deployment_id = ?";
const SELECT_BY_ID = "SELECT * FROM deployments WHERE deployment_id = ?";
const SELECT_PAGE = `SELECT * FROM deployments
WHERE org_id = ?1 AND (?2 = '' OR environment = ?2) AND (?3 = '' OR project = ?3) AND (?4 = '' OR status = ?4)
  AND (?5 = '' OR deployment_id < ?5)
ORDER BY deployment_id DESC LIMIT ?6`;
const SELECT_ACTIVE = `SELECT * FROM deployments
WHERE org_id = ? AND environment = ? AND project = ? AND status = 'active'`;
const SET_FAILED = `UPDATE deployments SET status = 'failed', error = ?
WHERE org_id = ? AND deployment_id = ? AND status = 'pending'`;
const INSERT_EVENT = `INSERT INTO deployment_events (org_id, deployment_id, at, event, key_id, key_name)
VALUES (?, ?, ?, ?, ?, ?)`;
const SELECT_EVENTS = `SELECT at, event, key_id, key_name FROM deployment_events
WHERE org_id = ? AND deployment_id = ? ORDER BY at, seq`;
const FAIL_ABANDONED = `UPDATE deployments SET status = 'failed',
  error = 'The server stopped before the deployment was activated; push it again.'
WHERE status = 'pending' RETURNING org_id, deployment_id`;

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
  yield* run(SET_FAILED, error, orgId, deploymentId);
  yield* insertEvent(orgId, deploymentId, "failed", nowMs, null);
}

/** Marks the deployments failed that an earlier server registered and did not activate. */
export function* failAbandoned(nowMs: number): Program<void> {
  const rows = yield* all<{ org_id: string; deployment_id: string }>(FAIL_ABANDONED);
  for (const row of rows) yield* insertEvent(row.org_id, row.deployment_id, "failed", nowMs, null);
}

export function* insertEvent(
  orgId: string,
  deploymentId: string,
  event: string,
  nowMs: number,
  actor: Actor | null,
): Program<void> {
  yield* run(INSERT_EVENT, orgId, deploymentId, nowMs, event, actor?.keyId ?? null, actor?.keyName ?? null);
}

export function* listEvents(orgId: string, deploymentId: string): Program<EventRow[]> {
  return yield* all<EventRow>(SELECT_EVENTS, orgId, deploymentId);
}
