/**
 * What was sent to the webhooks: of each the last hundred, in as many slots that are written over in turn, so that the
 * table prunes itself.
 */
import type { TargetKind } from "../../project/definition.ts";
import { all, first, type Program, run } from "./engine.ts";

export type DeliveryOutcome = "accepted" | "replayed" | "rejected";

export interface DeliveryRow {
  org_id: string;
  /** Environment, kind, name and slug, joined by `/`. */
  webhook: string;
  slot: number;
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
  /** JSON of an object of strings, without credentials. */
  headers: string;
  /** JSON text, when the body was a JSON object. */
  payload: string | null;
}

export interface DeliveryFilter {
  slug: string;
  name: string;
  outcome: string;
  environment: string;
  since: number;
  before: string;
  limit: number;
}

const PUT = `INSERT INTO deliveries (org_id, webhook, slot, delivery_id, received_at, environment, kind, name,
  slug, outcome, http_status, reason, execution_id, deployment_id, size_bytes, headers, payload)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (org_id, webhook, slot) DO UPDATE SET
  delivery_id = excluded.delivery_id, received_at = excluded.received_at, environment = excluded.environment,
  kind = excluded.kind, name = excluded.name, slug = excluded.slug, outcome = excluded.outcome, http_status =
  excluded.http_status, reason = excluded.reason, execution_id = excluded.execution_id, deployment_id =
  excluded.deployment_id, size_bytes = excluded.size_bytes, headers = excluded.headers, payload =
  excluded.payload`;
const SELECT_LAST_SLOT = `SELECT slot FROM deliveries WHERE org_id = ? AND webhook = ?
ORDER BY delivery_id DESC LIMIT 1`;
const SELECT = "SELECT * FROM deliveries WHERE org_id = ? AND delivery_id = ?";
const SELECT_PAGE = `SELECT * FROM deliveries
WHERE org_id = ?1 AND (?2 = '' OR slug = ?2) AND (?3 = '' OR name = ?3) AND (?4 = '' OR outcome = ?4)
  AND (?5 = '' OR environment = ?5) AND received_at >= ?6 AND (?7 = '' OR delivery_id < ?7)
ORDER BY delivery_id DESC LIMIT ?8`;

export function* putDelivery(row: DeliveryRow): Program<void> {
  yield* run(
    PUT,
    row.org_id,
    row.webhook,
    row.slot,
    row.delivery_id,
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
  );
}

/** The slot of a webhook's newest delivery; -1 when there is none. */
export function* getLastSlot(orgId: string, webhook: string): Program<number> {
  return (yield* first<{ slot: number }>(SELECT_LAST_SLOT, orgId, webhook))?.slot ?? -1;
}

export function* getDelivery(orgId: string, deliveryId: string): Program<DeliveryRow | undefined> {
  return yield* first<DeliveryRow>(SELECT, orgId, deliveryId);
}

/** Newest first. */
export function* listDeliveries(orgId: string, filter: DeliveryFilter): Program<DeliveryRow[]> {
  return yield* all<DeliveryRow>(
    SELECT_PAGE,
    orgId,
    filter.slug,
    filter.name,
    filter.outcome,
    filter.environment,
    filter.since,
    filter.before,
    filter.limit,
  );
}
