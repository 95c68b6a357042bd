/**
 * The schema, as an append-only list of steps. Times are Unix milliseconds, JSON is text.
 * Every key begins with the organization, so that a distributed engine can shard by it. Exceptions are the table of API
 * keys, through which an organization is found, and the index of the queue, which each shard has.
 */
import type { Row, SqlValue } from "./engine.ts";

export const migrations: readonly string[] = [
  `
CREATE TABLE organizations (
  org_id     TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
  key_id       TEXT PRIMARY KEY,
  org_id       TEXT NOT NULL REFERENCES organizations,
  name         TEXT NOT NULL,
  secret_hash  TEXT NOT NULL,
  scope        TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  last_used_at BIGINT,
  expires_at   BIGINT,
  revoked_at   BIGINT
);
CREATE INDEX api_keys_of_organization ON api_keys (org_id, created_at);

CREATE TABLE objects (
  org_id     TEXT NOT NULL,
  digest     TEXT NOT NULL,
  size_bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, digest)
);

CREATE TABLE uploads (
  org_id     TEXT NOT NULL,
  upload_id  TEXT NOT NULL,
  digest     TEXT NOT NULL,
  size_bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, upload_id)
);

CREATE TABLE deployments (
  org_id          TEXT NOT NULL,
  deployment_id   TEXT NOT NULL,
  project         TEXT NOT NULL,
  version         TEXT NOT NULL,
  environment     TEXT NOT NULL,
  status          TEXT NOT NULL,
  digest          TEXT NOT NULL,
  size_bytes      BIGINT NOT NULL,
  file_count      BIGINT NOT NULL,
  definition      TEXT NOT NULL,
  files           TEXT NOT NULL,
  created_by      TEXT NOT NULL,
  created_by_name TEXT NOT NULL,
  created_at      BIGINT NOT NULL,
  activated_at    BIGINT,
  error           TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (org_id, deployment_id)
);
CREATE UNIQUE INDEX one_active_deployment ON deployments (org_id, environment, project) WHERE status = 'active';

CREATE UNIQUE INDEX deployment_of_id ON deployments (deployment_id);

CREATE TABLE deployment_events (
  seq           INTEGER PRIMARY KEY,
  org_id        TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  at            BIGINT NOT NULL,
  event         TEXT NOT NULL,
  key_id        TEXT,
  key_name      TEXT
);
CREATE INDEX deployment_events_of ON deployment_events (org_id, deployment_id, at, seq);

CREATE TABLE targets (
  org_id        TEXT NOT NULL,
  environment   TEXT NOT NULL,
  name          TEXT NOT NULL,
  kind          TEXT NOT NULL,
  project       TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  definition    TEXT NOT NULL,
  PRIMARY KEY (org_id, environment, name)
);

CREATE TABLE webhooks (
  org_id        TEXT NOT NULL,
  environment   TEXT NOT NULL,
  kind          TEXT NOT NULL,
  name          TEXT NOT NULL,
  slug          TEXT NOT NULL,
  position      BIGINT NOT NULL,
  project       TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  definition    TEXT NOT NULL,
  gone          BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (org_id, environment, kind, name, slug)
);

CREATE TABLE schedules (
  org_id           TEXT NOT NULL,
  schedule_id      TEXT NOT NULL,
  environment      TEXT NOT NULL,
  kind             TEXT NOT NULL,
  name             TEXT NOT NULL,
  project          TEXT NOT NULL,
  deployment_id    TEXT,
  definition       TEXT NOT NULL,
  paused           BIGINT NOT NULL DEFAULT 0,
  next_due_at      BIGINT,
  PRIMARY KEY (org_id, schedule_id)
);
CREATE UNIQUE INDEX one_schedule_of_target ON schedules (org_id, environment, name);
CREATE INDEX due_schedules ON schedules (next_due_at) WHERE next_due_at IS NOT NULL;

CREATE TABLE ticks (
  org_id       TEXT NOT NULL,
  schedule_id  TEXT NOT NULL,
  due_at       BIGINT NOT NULL,
  outcome      TEXT NOT NULL,
  reason       TEXT NOT NULL,
  execution_id TEXT,
  decided_at   BIGINT NOT NULL,
  PRIMARY KEY (org_id, schedule_id, due_at)
);
CREATE INDEX ticks_by_age ON ticks (decided_at);
CREATE INDEX waiting_ticks ON ticks (org_id, schedule_id, due_at) WHERE outcome = 'waiting';
CREATE INDEX runs_of_schedule ON ticks (org_id, schedule_id, due_at) WHERE outcome = 'run';

CREATE TABLE executions (
  org_id              TEXT NOT NULL,
  execution_id        TEXT NOT NULL,
  status              TEXT NOT NULL,
  kind                TEXT NOT NULL,
  name                TEXT NOT NULL,
  origin              TEXT NOT NULL,
  deployment_id       TEXT NOT NULL,
  environment         TEXT NOT NULL,
  input               TEXT NOT NULL,
  unmapped            TEXT NOT NULL DEFAULT '[]',
  mapping             TEXT,
  replay_of           TEXT,
  webhook             TEXT,
  output              TEXT,
  error               TEXT,
  attempt             BIGINT NOT NULL DEFAULT 1,
  losses              BIGINT NOT NULL DEFAULT 0,
  alone               BIGINT NOT NULL DEFAULT 0,
  parent_execution_id TEXT,
  parent_key          TEXT,
  depth               BIGINT NOT NULL DEFAULT 0,
  cancel_requested    BIGINT NOT NULL DEFAULT 0,
  due_at              BIGINT NOT NULL,
  lease_owner         TEXT,
  lease_until         BIGINT,
  created_at          BIGINT NOT NULL,
  started_at          BIGINT,
  finished_at         BIGINT,
  PRIMARY KEY (org_id, execution_id)
) WITHOUT ROWID;
CREATE INDEX queued_executions ON executions (deployment_id, due_at) WHERE status = 'queued';
CREATE INDEX finished_executions ON executions (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX leased_executions ON executions (lease_until) WHERE status = 'running';
CREATE UNIQUE INDEX one_child_of_key ON executions (org_id, parent_execution_id, parent_key)
  WHERE parent_execution_id IS NOT NULL;

CREATE TABLE attempts (
  org_id       TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  attempt      BIGINT NOT NULL,
  started_at   BIGINT,
  finished_at  BIGINT NOT NULL,
  error        TEXT NOT NULL,
  retry_at     BIGINT,
  PRIMARY KEY (org_id, execution_id, attempt)
);

CREATE TABLE idempotency (
  org_id       TEXT NOT NULL,
  webhook      TEXT NOT NULL,
  key          TEXT NOT NULL,
  body_hash    TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  expires_at   BIGINT NOT NULL,
  PRIMARY KEY (org_id, webhook, key)
);
CREATE INDEX expiring_idempotency ON idempotency (expires_at);

CREATE TABLE deliveries (
  org_id        TEXT NOT NULL,
  webhook       TEXT NOT NULL,
  slot          BIGINT NOT NULL,
  delivery_id   TEXT NOT NULL,
  received_at   BIGINT NOT NULL,
  environment   TEXT NOT NULL,
  kind          TEXT NOT NULL,
  name          TEXT NOT NULL,
  slug          TEXT NOT NULL,
  outcome       TEXT NOT NULL,
  http_status   BIGINT NOT NULL,
  reason        TEXT NOT NULL,
  execution_id  TEXT,
  deployment_id TEXT NOT NULL,
  size_bytes    BIGINT NOT NULL,
  headers       TEXT NOT NULL,
  payload       TEXT,
  PRIMARY KEY (org_id, webhook, slot)
);
CREATE UNIQUE INDEX delivery_of_id ON deliveries (org_id, delivery_id);

CREATE TABLE secrets (
  org_id     TEXT NOT NULL,
  name       TEXT NOT NULL,
  sealed     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, name)
);

CREATE TABLE logs (
  org_id        TEXT NOT NULL,
  seq           BIGINT NOT NULL,
  at            BIGINT NOT NULL,
  level         TEXT NOT NULL,
  source        TEXT NOT NULL,
  message       TEXT NOT NULL,
  execution_id  TEXT,
  deployment_id TEXT,
  name          TEXT,
  environment   TEXT,
  PRIMARY KEY (org_id, seq)
) WITHOUT ROWID;
CREATE INDEX logs_of_execution ON logs (org_id, execution_id, seq) WHERE source IN ('console', 'execution');
`,
  `
ALTER TABLE deployments ADD COLUMN source_deployment_id TEXT;
`,
  // An accepted delivery is its execution. `deliveries` takes only rejected requests; accepted and replayed rows in it are
  // older than this step.
  `
ALTER TABLE executions ADD COLUMN payload TEXT;
ALTER TABLE executions ADD COLUMN headers TEXT;
ALTER TABLE executions ADD COLUMN size_bytes BIGINT;

ALTER TABLE deliveries RENAME TO numbered_deliveries;
CREATE TABLE deliveries (
  org_id        TEXT NOT NULL,
  delivery_id   TEXT NOT NULL,
  webhook       TEXT NOT NULL,
  received_at   BIGINT NOT NULL,
  environment   TEXT NOT NULL,
  kind          TEXT NOT NULL,
  name          TEXT NOT NULL,
  slug          TEXT NOT NULL,
  outcome       TEXT NOT NULL,
  http_status   BIGINT NOT NULL,
  reason        TEXT NOT NULL,
  execution_id  TEXT,
  deployment_id TEXT NOT NULL,
  size_bytes    BIGINT NOT NULL,
  headers       TEXT NOT NULL,
  payload       TEXT,
  PRIMARY KEY (org_id, delivery_id)
);
INSERT INTO deliveries (org_id, delivery_id, webhook, received_at, environment, kind, name, slug, outcome, http_status,
  reason, execution_id, deployment_id, size_bytes, headers, payload)
SELECT org_id, delivery_id, webhook, received_at, environment, kind, name, slug, outcome, http_status, reason,
  execution_id, deployment_id, size_bytes, headers, payload FROM numbered_deliveries;
DROP TABLE numbered_deliveries;
CREATE INDEX rejected_deliveries ON deliveries (org_id, webhook, delivery_id) WHERE outcome = 'rejected';
CREATE INDEX deliveries_by_age ON deliveries (received_at);
`,
  `
ALTER TABLE executions ADD COLUMN runner_losses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE executions ADD COLUMN attempt_started_at BIGINT;
`,
  // One row: a known text, sealed with the master key.
  `
CREATE TABLE master_key_check (
  id         BIGINT PRIMARY KEY,
  sealed     TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
`,
  `
CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
`,
  `
ALTER TABLE executions ADD COLUMN response TEXT;
CREATE INDEX ignored_deliveries ON deliveries (org_id, webhook, delivery_id) WHERE outcome = 'ignored';
`,
  // Set while the housekeeper deletes the package.
  `
ALTER TABLE objects ADD COLUMN deleting_at BIGINT;
CREATE INDEX uploads_by_digest ON uploads (org_id, digest, upload_id);
`,
  // The number of the newest entry of each organization's log.
  `
CREATE TABLE log_ends (
  org_id TEXT PRIMARY KEY,
  seq    BIGINT NOT NULL
);
INSERT INTO log_ends (org_id, seq) SELECT org_id, MAX(seq) FROM logs GROUP BY org_id;
`,
  `
CREATE TABLE module_checks (
  org_id        TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  modules       TEXT NOT NULL,
  timeout_ms    BIGINT NOT NULL,
  created_at    BIGINT NOT NULL,
  owner         TEXT,
  lease_until   BIGINT,
  result        TEXT,
  PRIMARY KEY (org_id, deployment_id)
);
`,
  `
ALTER TABLE migrations ADD COLUMN compatible_from BIGINT;
`,
  // The targets of a deployment that declare schemas.
  `
CREATE TABLE target_schemas (
  org_id        TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  name          TEXT NOT NULL,
  input         TEXT,
  output        TEXT,
  PRIMARY KEY (org_id, deployment_id, name)
);
ALTER TABLE module_checks ADD COLUMN inputs TEXT;
`,
  // A JSON object; null for an entry without fields.
  `
ALTER TABLE logs ADD COLUMN fields TEXT;
`,
  // Values of `secrets` apply to the environments without a value here.
  `
CREATE TABLE environment_secrets (
  org_id      TEXT NOT NULL,
  environment TEXT NOT NULL,
  name        TEXT NOT NULL,
  sealed      TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  PRIMARY KEY (org_id, environment, name)
);
`,
  `
ALTER TABLE executions ADD COLUMN trace TEXT;
`,
  // The alerts of the current minute of each project.
  `
CREATE TABLE alert_windows (
  org_id      TEXT NOT NULL,
  project     TEXT NOT NULL,
  environment TEXT NOT NULL,
  started_at  BIGINT NOT NULL,
  sent        BIGINT NOT NULL,
  suppressed  BIGINT NOT NULL,
  PRIMARY KEY (org_id, project, environment)
);
`,
  `
CREATE TABLE input_checks (
  org_id        TEXT NOT NULL,
  check_id      TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  module        TEXT NOT NULL,
  input         TEXT NOT NULL,
  created_at    BIGINT NOT NULL,
  owner         TEXT,
  result        TEXT,
  PRIMARY KEY (org_id, check_id)
);
CREATE INDEX open_input_checks ON input_checks (created_at) WHERE owner IS NULL;
`,
  `
CREATE TABLE console_sessions (
  org_id     TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  key_id     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, token_hash)
);
CREATE INDEX console_sessions_by_token ON console_sessions (token_hash);
CREATE INDEX console_sessions_by_end ON console_sessions (expires_at);
CREATE TABLE statistics (
  org_id      TEXT NOT NULL,
  environment TEXT NOT NULL,
  span        BIGINT NOT NULL,
  at          BIGINT NOT NULL,
  accepted    BIGINT NOT NULL,
  rejected    BIGINT NOT NULL,
  ignored     BIGINT NOT NULL,
  succeeded   BIGINT NOT NULL,
  failed      BIGINT NOT NULL,
  cancelled   BIGINT NOT NULL,
  d0          BIGINT NOT NULL,
  d1          BIGINT NOT NULL,
  d2          BIGINT NOT NULL,
  d3          BIGINT NOT NULL,
  d4          BIGINT NOT NULL,
  d5          BIGINT NOT NULL,
  d6          BIGINT NOT NULL,
  d7          BIGINT NOT NULL,
  d8          BIGINT NOT NULL,
  d9          BIGINT NOT NULL,
  d10         BIGINT NOT NULL,
  d11         BIGINT NOT NULL,
  d12         BIGINT NOT NULL,
  d13         BIGINT NOT NULL,
  d14         BIGINT NOT NULL,
  d15         BIGINT NOT NULL,
  PRIMARY KEY (org_id, span, at, environment)
);
CREATE INDEX statistics_by_time ON statistics (span, at);
`,
];

/**
 * Programs that know at least this many steps work with the newest schema, so that their servers run during an upgrade.
 * Stored with the newest step. A step that only adds tables, indexes and columns with a default keeps it; any other step
 * sets it to its own number, and then all servers must stop for the upgrade.
 */
export const compatibleFrom = 6;

interface MigrationTarget {
  exec(sql: string): void;
  all(sql: string, ...params: SqlValue[]): Row[];
}

/**
 * Brings a database to the newest schema; each step is one transaction. An up-to-date database is only read, so that
 * `svc admin` opens the store of a busy server without waiting for its write lock.
 */
export function migrate(db: MigrationTarget): void {
  db.exec("CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)");
  const version = versionOf(db);
  if (version > migrations.length) checkVersion(version, db.all(SELECT_COMPATIBLE)[0]?.compatible_from);
  for (const [index, step] of migrations.entries()) {
    if (index < version) continue;
    db.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have applied the step meanwhile.
      if (versionOf(db) <= index) {
        db.exec(step);
        db.all("INSERT INTO migrations (version, applied_at) VALUES (?, ?)", index + 1, Date.now());
        if (index + 1 === migrations.length) db.all(SET_COMPATIBLE, compatibleFrom, index + 1);
      }
      db.exec("COMMIT");
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  }
  if (db.all(SELECT_STALE_ENDS).length > 0) db.exec(CORRECT_ENDS);
}

/** Of a schema that is newer than this program. */
export const SELECT_COMPATIBLE = "SELECT compatible_from FROM migrations ORDER BY version DESC LIMIT 1";
const SET_COMPATIBLE = "UPDATE migrations SET compatible_from = ? WHERE version = ?";
/** A server of version 0.1 that still runs after the migration numbers log entries without `log_ends`. */
const SELECT_STALE_ENDS = `SELECT logs.org_id, MAX(logs.seq) AS seq FROM organizations
JOIN logs ON logs.org_id = organizations.org_id
  AND logs.seq > COALESCE((SELECT seq FROM log_ends WHERE log_ends.org_id = organizations.org_id), 0)
GROUP BY logs.org_id`;
const CORRECT_ENDS = `INSERT INTO log_ends (org_id, seq) SELECT org_id, seq FROM (${SELECT_STALE_ENDS}) AS stale WHERE true
ON CONFLICT (org_id) DO UPDATE SET seq = MAX(log_ends.seq, excluded.seq)`;

/**
 * @param from - the stored `compatibleFrom`
 * @throws Error when the schema is newer than this program, and too new to work with it
 */
export function checkVersion(version: number, from: unknown): void {
  if (version <= migrations.length || (typeof from === "number" && migrations.length >= from)) return;
  throw new Error(
    `Cannot open the store: it has schema version ${version}, this program knows ${migrations.length}; use a newer svc.`,
  );
}

function versionOf(db: MigrationTarget): number {
  return Number(db.all("SELECT COALESCE(MAX(version), 0) AS version FROM migrations")[0]?.version);
}
