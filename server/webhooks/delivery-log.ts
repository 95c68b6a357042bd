/**
 * The inspector's record of deliveries. Of each webhook only the last hundred are kept, so that they are collected for a
 * moment and of a burst only those are written that would stay: at thousands of webhooks a second nearly none. What is
 * collected is lost when the process is killed; what was accepted is not, for that is in the executions.
 */
import type { IncomingHttpHeaders } from "node:http";
import { orderedId } from "../ids.ts";
import { type DeliveryOutcome, type DeliveryRow, getLastSlot, putDelivery } from "../store/deliveries.ts";
import type { Engine } from "../store/engine.ts";
import { withoutCredentials } from "./credentials.ts";
import type { Route } from "./route-table.ts";

/** Deliveries kept of one webhook. */
export const keptDeliveries = 100;

const flushMs = 250;
/** Bytes of payloads that may be collected; over it they are written at once. */
const maxCollectedBytes = 16 * 1024 ** 2;

export interface DeliveryRecord {
  route: Route;
  receivedAtMs: number;
  outcome: DeliveryOutcome;
  httpStatus: number;
  reason: string;
  executionId: string | null;
  sizeBytes: number;
  headers: IncomingHttpHeaders;
  payload: string | null;
}

interface Collected {
  /** A ring of the last hundred. */
  records: DeliveryRecord[];
  count: number;
}

export class DeliveryLog {
  readonly #engine: Engine;
  #collected = new Map<string, Collected>();
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  add(record: DeliveryRecord): void {
    const key = `${record.route.orgId}/${record.route.webhook}`;
    let collected = this.#collected.get(key);
    if (collected === undefined) {
      collected = { records: [], count: 0 };
      this.#collected.set(key, collected);
    }
    const at = collected.count++ % keptDeliveries;
    this.#bytes += record.sizeBytes - (collected.records[at]?.sizeBytes ?? 0);
    collected.records[at] = record;
    if (this.#bytes > maxCollectedBytes) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), flushMs);
  }

  /** Resolves when everything added before is on disk. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#collected.size === 0) return this.#writing;
    const batch = this.#collected;
    this.#collected = new Map();
    this.#bytes = 0;
    this.#writing = this.#writing
      .then(() => this.#engine.write(() => putAll(batch)))
      .catch((error: unknown) => {
        console.error("Cannot record deliveries:", error instanceof Error ? error.message : error);
      });
    return this.#writing;
  }
}

function* putAll(batch: ReadonlyMap<string, Collected>) {
  for (const { records, count } of batch.values()) {
    const start = count > keptDeliveries ? count % keptDeliveries : 0;
    const ordered = [...records.slice(start), ...records.slice(0, start)];
    const [first] = ordered;
    if (first === undefined) continue;
    let slot = yield* getLastSlot(first.route.orgId, first.route.webhook);
    for (const record of ordered) {
      slot = (slot + 1) % keptDeliveries;
      yield* putDelivery(toRow(record, slot));
    }
  }
}

function toRow(record: DeliveryRecord, slot: number): DeliveryRow {
  const { route } = record;
  return {
    org_id: route.orgId,
    webhook: route.webhook,
    slot,
    delivery_id: orderedId("dlv"),
    received_at: record.receivedAtMs,
    environment: route.environment,
    kind: route.kind,
    name: route.name,
    slug: route.slug,
    outcome: record.outcome,
    http_status: record.httpStatus,
    reason: record.reason,
    execution_id: record.executionId,
    deployment_id: route.deploymentId,
    size_bytes: record.sizeBytes,
    headers: JSON.stringify(withoutCredentials(record.headers, route.definition.signature)),
    payload: record.payload,
  };
}
