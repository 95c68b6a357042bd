/** Maps idempotency keys to executions. The unique row decides between concurrent requests. */
import { first, type Program, run } from "./engine.ts";

export interface IdempotencyRow {
  org_id: string;
  webhook: string;
  key: string;
  /** SHA-256 of the body, lower-case hex. */
  body_hash: string;
  execution_id: string;
  expires_at: number;
}

const SELECT = "SELECT * FROM idempotency WHERE org_id = ? AND webhook = ? AND key = ? AND expires_at > ?";
const UPSERT = `INSERT INTO idempotency (org_id, webhook, key, body_hash, execution_id, expires_at)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (org_id, webhook, key) DO UPDATE SET body_hash = excluded.body_hash,
  execution_id = excluded.execution_id, expires_at = excluded.expires_at`;
const DELETE_EXPIRED = `DELETE FROM idempotency WHERE (org_id, webhook, key) IN
  (SELECT org_id, webhook, key FROM idempotency WHERE expires_at <= ? LIMIT ?) RETURNING key`;

/** The unexpired row of a key. */
export function* getIdempotency(
  orgId: string,
  webhook: string,
  key: string,
  nowMs: number,
): Program<IdempotencyRow | undefined> {
  return yield* first<IdempotencyRow>(SELECT, orgId, webhook, key, nowMs);
}

/** Stores a key; replaces an expired one. */
export function* putIdempotency(row: IdempotencyRow): Program<void> {
  yield* run(UPSERT, row.org_id, row.webhook, row.key, row.body_hash, row.execution_id, row.expires_at);
}

/** Deletes up to `limit` expired keys; returns how many. */
export function* deleteExpiredIdempotency(nowMs: number, limit: number): Program<number> {
  const rows: unknown[] = yield { sql: DELETE_EXPIRED, params: [nowMs, limit] };
  return rows.length;
}
