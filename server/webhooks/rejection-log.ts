/**
 * Records rejected and ignored requests and handshakes for the delivery inspector. Accepted ones need no record: they are executions. The record is
 * written after the response, in batches; a batch that the process had not yet written is lost when it is killed.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Counters } from "../counters.ts";
import { orderedId } from "../ids.ts";
import { BatchWriter } from "../store/batch-writer.ts";
import type { Engine } from "../store/engine.ts";
import { insertRejected, type RejectedDelivery } from "../store/tables/deliveries.ts";
import { metrics } from "../telemetry/metrics/index.ts";
import { withoutCredentials } from "./credentials.ts";
import { keepQuery } from "./mapping-sources.ts";
import type { Route } from "./route-table.ts";

/** Rejected requests, ignored requests and handshakes kept of each webhook, each separately. */
export const keptRejections = 100;

/** Bounds on the memory of requests that wait for a store that does not accept writes. */
const maxWaitingRows = 10_000;
const maxWaitingBytes = 16 * 1024 ** 2;

export interface Rejection {
  receivedAtMs: number;
  httpStatus: number;
  reason: string;
  headers: IncomingHttpHeaders;
  /** Path and query. */
  url: string;
  sizeBytes: number;
  /** JSON text; null when the body was not a JSON object. */
  payload: string | null;
}

export type RejectionOutcome = "rejected" | "ignored" | "handshake";

/** Called for each request, when it is recorded. */
export type OnRejection = (route: Route, rejection: Rejection, outcome: RejectionOutcome) => void;

export class RejectionLog {
  readonly #counters: Counters;
  readonly #onRejection: OnRejection | undefined;
  readonly #writer: BatchWriter<RejectedDelivery>;
  #waitingBytes = 0;

  constructor(engine: Engine, counters: Counters, onRejection?: OnRejection) {
    this.#counters = counters;
    this.#onRejection = onRejection;
    this.#writer = new BatchWriter({
      engine,
      noun: "rejected deliveries",
      insert: (rows) => insertRejected(rows, keptRejections),
    });
  }

  add(route: Route, rejection: Rejection, outcome: RejectionOutcome = "rejected"): void {
    this.#onRejection?.(route, rejection, outcome);
    if (outcome !== "rejected") metrics.webhooks.add(outcome, "");
    if (outcome !== "handshake") {
      this.#counters.request({ org_id: route.orgId, environment: route.environment }, outcome);
    }
    if (this.#writer.waiting === 0) this.#waitingBytes = 0;
    if (this.#writer.waiting >= maxWaitingRows) return;
    const { payload, sizeBytes } = rejection;
    const isKept = payload !== null && this.#waitingBytes + sizeBytes <= maxWaitingBytes;
    if (isKept) this.#waitingBytes += sizeBytes;
    const headers = withoutCredentials(rejection.headers, route.definition.signature);
    keepQuery(route, headers, rejection.url);
    this.#writer.add([
      {
        org_id: route.orgId,
        delivery_id: orderedId("dlv"),
        webhook: route.webhook,
        received_at: rejection.receivedAtMs,
        environment: route.environment,
        kind: route.kind,
        name: route.name,
        slug: route.slug,
        outcome,
        http_status: rejection.httpStatus,
        reason: rejection.reason,
        execution_id: null,
        deployment_id: route.deploymentId,
        size_bytes: sizeBytes,
        headers: JSON.stringify(headers),
        payload: isKept ? payload : null,
      },
    ]);
  }

  /** Resolves when every request added before the call is on disk. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }
}
