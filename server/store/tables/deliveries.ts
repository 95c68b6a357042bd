/**
 * Deliveries: requests to webhook URLs as received. An accepted delivery is a row of `executions`, and its id is the
 * execution's with the prefix `dlv_`. A rejected, ignored or handshake request has a row of its own in `deliveries`, which
 * also holds deliveries of any outcome that an earlier version recorded.
 */
import type { TargetKind } from "../../../project/definition.ts";
import { firstOrderedId } from "../../ids.ts";
import { all, each, first, type Program } from "../engine.ts";
import { lastOfPart } from "./executions.ts";

export type DeliveryOutcome = "accepted" | "replayed" | "rejected" | "ignored" | "handshake";

export interface DeliverySummary {
  org_id: string;
  delivery_id: string;
  received_at: number;
  environment: string;
  kind: TargetKind;
  name: string;
  slug: string;
  outcome: DeliveryOutcome;
  http_status: number;
  reason: string;
  execution_id: string | null;
  deployment_id: string;
  size_bytes: number;
}

export interface DeliveryRow extends DeliverySummary {
  /** JSON text: an object of strings, without credentials. */
  headers: string;
  /** JSON text; null when the body was not a JSON object, or was not kept. */
  payload: string | null;
}

export interface RejectedDelivery extends DeliveryRow {
  /** Environment, kind, name and slug, joined by `/`. */
  webhook: string;
}

export interface DeliveryFilter {
  slug: string;
  name: string;
  outcome: string;
  environment: string;
  /** Unix milliseconds; 0 for all. */
  since: number;
}

const INSERT = `INSERT INTO deliveries (org_id, delivery_id, webhook, received_at, environment, kind, name, slug, outcome,
  http_status, reason, execution_id, deployment_id, size_bytes, headers, payload)
SELECT r.org_id, r.delivery_id, r.webhook, r.received_at, r.environment, r.kind, r.name, r.slug, r.outcome, r.http_status,
  r.reason, r.execution_id, r.deployment_id, r.size_bytes, r.headers, r.payload
FROM ROWS(org_id text, delivery_id text, webhook text, received_at int, environment text, kind text, name text, slug text,
  outcome text, http_status int, reason text, execution_id text, deployment_id text, size_bytes int, headers text,
  payload text) r`;
/** Keeps the newest rejected deliveries of webhooks. */
const PRUNE = `DELETE FROM deliveries USING ROWS(org_id text, webhook text) r
WHERE deliveries.org_id = r.org_id AND deliveries.webhook = r.webhook AND deliveries.outcome = 'rejected'
  AND deliveries.delivery_id <= (
    SELECT d.delivery_id FROM deliveries d
    WHERE d.org_id = r.org_id AND d.webhook = r.webhook AND d.outcome = 'rejected'
    ORDER BY d.delivery_id DESC LIMIT 1 OFFSET ?1)`;
/** Each outcome has its statement, because the indexes are partial. Handshakes are too rare to need one. */
const pruneOf: [DeliveryOutcome, string][] = [
  ["rejected", PRUNE],
  ["ignored", PRUNE.replaceAll("'rejected'", "'ignored'")],
  ["handshake", PRUNE.replaceAll("'rejected'", "'handshake'")],
];
const DELETE_OLD = `DELETE FROM deliveries WHERE (org_id, delivery_id) IN
  (SELECT org_id, delivery_id FROM deliveries WHERE received_at < ?1 LIMIT ?2 FOR UPDATE SKIP LOCKED)
RETURNING delivery_id`;
const OWN_COLUMNS = `org_id, delivery_id, received_at, environment, kind, name, slug, outcome, http_status, reason,
  execution_id, deployment_id, size_bytes`;
const EXECUTION_COLUMNS = `org_id, 'dlv' || substr(execution_id, 4) AS delivery_id, created_at AS received_at, environment,
  kind, name, webhook AS slug, 'accepted' AS outcome, 202 AS http_status, '' AS reason, execution_id, deployment_id,
  size_bytes`;
const SELECT_OWN = `SELECT ${OWN_COLUMNS}, headers, payload FROM deliveries WHERE org_id = ?1 AND delivery_id = ?2`;
const SELECT_EXECUTION = `SELECT ${EXECUTION_COLUMNS}, headers, COALESCE(payload, input) AS payload FROM executions
WHERE org_id = ?1 AND execution_id = ?2 AND size_bytes IS NOT NULL`;
const MATCHES = `(?2 = '' OR name = ?2) AND (?3 = '' OR environment = ?3)`;
/** The bounds on the ids let both tables stop at `since`, in the order of their primary keys. */
const SELECT_PAGE = `SELECT * FROM (
  SELECT ${OWN_COLUMNS} FROM deliveries
  WHERE org_id = ?1 AND ${MATCHES} AND (?4 = '' OR slug = ?4) AND (?5 = '' OR outcome = ?5) AND delivery_id < ?6
    AND delivery_id >= ?11 AND received_at >= ?7
  ORDER BY delivery_id DESC LIMIT ?10)
UNION ALL SELECT * FROM (
  SELECT ${EXECUTION_COLUMNS} FROM executions
  WHERE org_id = ?1 AND ${MATCHES} AND (?4 = '' OR webhook = ?4) AND ?5 IN ('', 'accepted') AND execution_id < ?8
    AND execution_id >= ?9 AND created_at >= ?7 AND size_bytes IS NOT NULL
  ORDER BY execution_id DESC LIMIT ?10)
ORDER BY delivery_id DESC LIMIT ?10`;
/** Sorts after every id. */
const END = "~";

/** Inserts deliveries without an execution, and deletes the oldest, so that each webhook has `kept` of each outcome. */
export function* insertRejected(rows: readonly RejectedDelivery[], kept: number): Program<void> {
  yield* each(
    INSERT,
    rows.map((row) => [
      row.org_id,
      row.delivery_id,
      row.webhook,
      row.received_at,
      row.environment,
      row.kind,
      row.name,
      row.slug,
      row.outcome,
      row.http_status,
      row.reason,
      row.execution_id,
      row.deployment_id,
      row.size_bytes,
      row.headers,
      row.payload,
    ]),
  );
  for (const [outcome, prune] of pruneOf) {
    const changed = new Map<string, [string, string]>();
    for (const { org_id, webhook, ...row } of rows) {
      if (row.outcome === outcome) changed.set(`${org_id}/${webhook}`, [org_id, webhook]);
    }
    yield* each(prune, [...changed.values()], kept);
  }
}

export function* getDelivery(orgId: string, deliveryId: string): Program<DeliveryRow | undefined> {
  return (
    (yield* first<DeliveryRow>(SELECT_OWN, orgId, deliveryId)) ??
    (yield* first<DeliveryRow>(SELECT_EXECUTION, orgId, executionIdOf(deliveryId)))
  );
}

/**
 * Accepted and rejected deliveries, newest first: the matching ones among the next `size` executions, and
 * deliveries without an execution of the same time.
 *
 * @param before - the id of the delivery before the part; empty for the first part
 */
export function* listDeliveries(
  orgId: string,
  filter: DeliveryFilter,
  before: string,
  limit: number,
  size: number,
): Program<{ rows: DeliverySummary[]; lastKey: string }> {
  const { slug, name, outcome, environment, since } = filter;
  const below = before === "" ? END : before;
  const executions = { from: firstOrderedId("exe", since), below: executionIdOf(below) };
  // Deliveries of other outcomes have no executions, and few rows.
  const last = outcome === "" || outcome === "accepted" ? yield* lastOfPart(orgId, executions, size) : "";
  const rows = yield* all<DeliverySummary>(
    SELECT_PAGE,
    orgId,
    name,
    environment,
    slug,
    outcome,
    below,
    since,
    executions.below,
    last === "" ? executions.from : last,
    limit,
    deliveryIdOf(last),
  );
  return { rows, lastKey: deliveryIdOf(last) };
}

/** Deletes up to `limit` rows of `deliveries` that are older than a time; returns how many. */
export function* deleteOldDeliveries(beforeMs: number, limit: number): Program<number> {
  return (yield* all(DELETE_OLD, beforeMs, limit)).length;
}

function executionIdOf(deliveryId: string): string {
  return deliveryId.replace(/^dlv/, "exe");
}

function deliveryIdOf(executionId: string): string {
  return executionId.replace(/^exe/, "dlv");
}
