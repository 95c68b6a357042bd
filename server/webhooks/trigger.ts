/**
 * Accepts webhook requests: finds the route and commits the execution. The hot path and the RPC methods share this module;
 * they differ only in how they read the request and write the response.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import type { TargetKind } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import { noSources, type RequestSources } from "../../project/mapping-source.ts";
import type { Counters } from "../counters.ts";
import { fail } from "../errors.ts";
import type { Executor } from "../executions/executor.ts";
import { orderedId } from "../ids.ts";
import type { NewExecution } from "../store/tables/new-executions.ts";
import { metrics } from "../telemetry/metrics/index.ts";
import type { IdempotencyKey } from "./idempotency.ts";
import { sourcesOfFilter, sourcesOfKept } from "./mapping-sources.ts";
import type { Route, RouteTable } from "./route-table.ts";

/** The webhook that a request names. */
export interface WebhookAddress {
  orgId: string;
  environment: string;
  /** Null when only the slug is given. */
  target: { kind: TargetKind; name: string } | null;
  slug: string;
}

export interface Payload {
  value: JsonObject;
  /** The JSON text of `value`. */
  text: string;
}

/** A request to a webhook URL, as the execution keeps it for the delivery inspector. */
export interface ReceivedRequest {
  /** JSON text: an object of strings, without credentials. */
  headers: string;
  sizeBytes: number;
}

export interface Accepted {
  executionId: string;
  /** True when the idempotency key was used before: the execution is the one of the first request. */
  replayed: boolean;
}

export interface TriggerParts {
  routes: RouteTable;
  executor: Pick<Executor, "enqueue">;
  counters: Counters;
}

export class Trigger {
  readonly #parts: TriggerParts;

  constructor(parts: TriggerParts) {
    this.#parts = parts;
  }

  /** The live route of an address if it is cached, without waiting: the case of nearly every request. */
  cachedRoute({ orgId, environment, target, slug }: WebhookAddress): Route | undefined {
    if (target === null) return undefined;
    const route = this.#parts.routes.cached(orgId, environment, target.kind, target.name, slug);
    return route?.gone ? undefined : route;
  }

  /** @throws ConnectError: 404 when there is no such webhook, 409 when several match, 410 when its deployment was deleted. */
  async route(address: WebhookAddress): Promise<Route> {
    const { orgId, environment, target, slug } = address;
    const { routes } = this.#parts;
    if (target !== null) {
      const route = await routes.find(orgId, environment, target.kind, target.name, slug);
      if (route === undefined) throw noWebhook();
      if (route.gone) throw goneWebhook();
      return route;
    }
    const found = await routes.findBySlug(orgId, environment, slug);
    const live = found.filter((route) => !route.gone);
    const [only] = live;
    if (only === undefined) throw found.length > 0 ? goneWebhook() : noWebhook();
    if (live.length > 1) throw ambiguous(slug, live);
    return only;
  }

  /** Why the filter of the webhook ignores a request; null when the request starts an execution. */
  ignores(route: Route, payload: JsonObject, headers: IncomingHttpHeaders, url: string): string | null {
    const { filter } = route;
    if (filter === null) return null;
    return filter.ignores(payload, filter.usesRequest ? sourcesOfFilter(route, headers, url) : noSources);
  }

  /**
   * Queues the execution. Resolves when it is on disk.
   *
   * @param received - makes the execution a delivery; null for callers of the RPC protocols
   * @param sources - the request's; absent for callers of the RPC protocols, which have none
   * @param trace - the context of the request; null without tracing
   * @throws ConnectError 422 when the key was used with another body
   */
  async accept(
    route: Route,
    payload: Payload,
    key: IdempotencyKey | null,
    received: ReceivedRequest | null,
    sources?: RequestSources,
    trace: string | null = null,
  ): Promise<Accepted> {
    const accepted = await this.#enqueue(route, payload, key, received, sources, trace);
    metrics.webhooks.add(accepted.replayed ? "duplicate" : "accepted", "");
    this.#parts.counters.request(accepted.row, "accepted");
    return accepted;
  }

  /** Queues the execution of a redelivery, which is no request of a sender and no delivery. */
  redeliver(
    route: Route,
    payload: Payload,
    sources: RequestSources | undefined,
    trace: string | null,
  ): Promise<Accepted> {
    return this.#enqueue(route, payload, null, null, sources, trace);
  }

  async #enqueue(
    route: Route,
    payload: Payload,
    key: IdempotencyKey | null,
    received: ReceivedRequest | null,
    sources: RequestSources | undefined,
    trace: string | null,
  ): Promise<Accepted & { row: NewExecution }> {
    const row = newExecution(route, payload, received, sources);
    if (trace !== null) row.trace = trace;
    const once = key === null ? null : { ...key, webhook: route.webhook };
    const { executionId, sameBody } = await this.#parts.executor.enqueue(row, once);
    if (!sameBody) throw fail("IDEMPOTENCY_KEY_REUSED", "The idempotency key was used with another body.");
    const replayed = executionId !== row.execution_id;
    return { executionId, replayed, row };
  }
}

function newExecution(
  route: Route,
  payload: Payload,
  received: ReceivedRequest | null,
  given: RequestSources | undefined,
): NewExecution {
  const now = Date.now();
  const row: NewExecution = {
    org_id: route.orgId,
    execution_id: orderedId("exe", now),
    kind: route.kind,
    name: route.name,
    origin: "webhook",
    deployment_id: route.deploymentId,
    environment: route.environment,
    input: payload.text,
    webhook: route.slug,
    headers: received?.headers ?? null,
    size_bytes: received?.sizeBytes ?? null,
    created_at: now,
  };
  if (route.mapping === null) return row;
  if (received !== null) row.payload = payload.text;
  const sources = given ?? (route.mapping.usesRequest ? sourcesOfKept(route, {}) : noSources);
  const { input, unmapped } = route.mapping.apply(payload.value, sources);
  row.input = JSON.stringify(input);
  row.mapping = JSON.stringify(route.mapping.trace(payload.value, sources));
  if (unmapped.length > 0) row.unmapped = JSON.stringify(unmapped);
  return row;
}

/** The same message for an unknown organization, target and slug, so that it does not reveal which ones exist. */
function noWebhook(): ConnectError {
  return fail("WEBHOOK_NOT_FOUND", "There is no such webhook.");
}

function goneWebhook(): ConnectError {
  return fail("WEBHOOK_GONE", "The deployment of this webhook was deleted.");
}

function ambiguous(slug: string, routes: readonly Route[]): ConnectError {
  const names = routes.map((route) => `${route.kind} '${route.name}'`).join(", ");
  return fail(
    "WEBHOOK_AMBIGUOUS",
    `The slug '${slug}' belongs to several webhooks (${names}); use the path that names the agent or workflow.`,
  );
}
