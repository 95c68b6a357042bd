/**
 * The first step of the schema. Times are Unix milliseconds, JSON is text.
 * Every key begins with the organization, so that a distributed engine can shard by it. Exceptions are the table of API
 * keys, through which an organization is found, and the index of the queue, which each shard has.
 */
export const initialSchema = `
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
`;
