/** Accepts executions, each at most once for its idempotency key. The unique row decides between concurrent requests. */
import { all, each, type Program } from "../engine.ts";
import type { ExecutionStatus } from "./executions.ts";
import { insertExecutions, type NewExecution } from "./new-executions.ts";

/** The idempotency key of a request. */
export interface Once {
  /** Names the webhook within its organization. */
  webhook: string;
  key: string;
  /** SHA-256 of the body, lower-case hex. */
  bodyHash: string;
  lifetimeMs: number;
  /** A repeat after the execution failed or was cancelled starts another one. */
  runsAfterFailure: boolean;
}

export interface Request {
  execution: NewExecution;
  /** Null when the request has no idempotency key. */
  once: Once | null;
}

export interface Acceptance {
  /** The execution that holds the key. It is the request's own one, or that of an earlier request. */
  executionId: string;
  /** False when the earlier request had another body. */
  sameBody: boolean;
}

interface KeyRow {
  org_id: string;
  webhook: string;
  key: string;
  body_hash: string;
  execution_id: string;
}

interface NewKey extends KeyRow {
  expires_at: number;
  runsAfterFailure: boolean;
}

const COLUMNS = "org_id text, webhook text, key text";
const RETURNING = `RETURNING idempotency.org_id, idempotency.webhook, idempotency.key, idempotency.body_hash,
  idempotency.execution_id`;
/** Stores keys; replaces expired ones. */
const PUT = `INSERT INTO idempotency (org_id, webhook, key, body_hash, execution_id, expires_at)
SELECT r.org_id, r.webhook, r.key, r.body_hash, r.execution_id, r.expires_at
FROM ROWS(${COLUMNS}, body_hash text, execution_id text, expires_at int) r WHERE true
ON CONFLICT (org_id, webhook, key) DO UPDATE SET body_hash = excluded.body_hash, execution_id = excluded.execution_id,
  expires_at = excluded.expires_at WHERE idempotency.expires_at <= ?1
${RETURNING}`;
const MATCHES =
  "idempotency.org_id = r.org_id AND idempotency.webhook = r.webhook AND idempotency.key = r.key";
/** The status is null when the execution was deleted. */
const SELECT = `SELECT idempotency.*, (SELECT status FROM executions
  WHERE executions.org_id = idempotency.org_id AND executions.execution_id = idempotency.execution_id) AS status
FROM idempotency, ROWS(${COLUMNS}) r WHERE ${MATCHES}`;
/** Gives a key to another execution. Of concurrent requests, one finds the key with the failed execution. */
const REPLACE = `UPDATE idempotency SET execution_id = r.execution_id, expires_at = r.expires_at
FROM ROWS(${COLUMNS}, failed_id text, execution_id text, expires_at int) r
WHERE ${MATCHES} AND idempotency.execution_id = r.failed_id
${RETURNING}`;
const DELETE_EXPIRED = `DELETE FROM idempotency WHERE (org_id, webhook, key) IN
  (SELECT org_id, webhook, key FROM idempotency WHERE expires_at <= ?1 LIMIT ?2 FOR UPDATE SKIP LOCKED) RETURNING key`;

/**
 * Inserts each execution unless an earlier request had its key, in the same batch too. An execution that failed or was
 * cancelled gives its key to the new one, unless the webhook replays failures.
 */
export function* acceptExecutions(requests: readonly Request[], nowMs: number): Program<Acceptance[]> {
  const keys = new Map<string, NewKey>();
  for (const { execution, once } of requests) {
    if (once === null) continue;
    const { org_id, execution_id, created_at } = execution;
    const { webhook, key, bodyHash, lifetimeMs, runsAfterFailure } = once;
    const id = idOf({ org_id, webhook, key });
    const expires_at = created_at + lifetimeMs;
    const row = { org_id, webhook, key, body_hash: bodyHash, execution_id, expires_at, runsAfterFailure };
    if (!keys.has(id)) keys.set(id, row);
  }
  if (keys.size === 0) {
    // The hot path.
    const executions = requests.map(({ execution }) => execution);
    yield* insertExecutions(executions);
    return executions.map(({ execution_id }) => ({ executionId: execution_id, sameBody: true }));
  }
  const holders = yield* holdersOf(keys, nowMs);
  const results = requests.map(({ execution: { org_id, execution_id }, once }) => {
    if (once === null) return { executionId: execution_id, sameBody: true };
    const holder = holders.get(idOf({ org_id, webhook: once.webhook, key: once.key }));
    if (holder === undefined) throw new Error("The idempotency key was deleted during the request.");
    return { executionId: holder.execution_id, sameBody: holder.body_hash === once.bodyHash };
  });
  const fresh = requests.filter(
    ({ execution }, index) => results[index]?.executionId === execution.execution_id,
  );
  yield* insertExecutions(fresh.map(({ execution }) => execution));
  return results;
}

/** Deletes up to `limit` expired keys; returns how many. */
export function* deleteExpiredIdempotency(nowMs: number, limit: number): Program<number> {
  return (yield* all(DELETE_EXPIRED, nowMs, limit)).length;
}

/** The stored rows of the keys, by id: the new ones, or those of earlier requests. */
function* holdersOf(keys: ReadonlyMap<string, NewKey>, nowMs: number): Program<Map<string, KeyRow>> {
  // In one order, so that two transactions do not wait for each other.
  const sorted = [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  const holders = new Map<string, KeyRow>();
  const add = (rows: readonly KeyRow[]): void => {
    for (const row of rows) holders.set(idOf(row), row);
  };
  const values = sorted.map((row) => [...keyOf(row), row.body_hash, row.execution_id, row.expires_at]);
  add(yield* each<KeyRow>(PUT, values, nowMs));
  const used = sorted.filter((row) => !holders.has(idOf(row)));
  if (used.length === 0) return holders;
  const earlier = yield* each<KeyRow & { status: ExecutionStatus | null }>(SELECT, used.map(keyOf));
  add(earlier);
  const failed = earlier.filter(({ status, ...row }) => {
    const request = keys.get(idOf(row));
    const isOver = status === "failed" || status === "cancelled";
    return isOver && request?.runsAfterFailure === true && request.body_hash === row.body_hash;
  });
  const replacements = failed.flatMap((row) => {
    const request = keys.get(idOf(row));
    if (request === undefined) return [];
    return [[...keyOf(row), row.execution_id, request.execution_id, request.expires_at]];
  });
  const replaced = yield* each<KeyRow>(REPLACE, replacements);
  // A concurrent request was first.
  if (replaced.length < failed.length) add(yield* each<KeyRow>(SELECT, failed.map(keyOf)));
  add(replaced);
  return holders;
}

function keyOf({ org_id, webhook, key }: KeyRow): [string, string, string] {
  return [org_id, webhook, key];
}

/** Neither an id nor the name of a webhook contains a space. */
function idOf({ org_id, webhook, key }: Pick<KeyRow, "org_id" | "webhook" | "key">): string {
  return `${org_id} ${webhook} ${key}`;
}
