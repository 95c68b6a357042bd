/** The schema, as an append-only list of steps. `initial-schema.ts` has its conventions. */
import { initialSchema } from "./initial-schema.ts";

export const migrations: readonly string[] = [
  initialSchema,
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
