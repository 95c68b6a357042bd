/**
 * Accepting a webhook: from the named webhook and its payload to a committed execution. The hot path and the RPC method
 * share this; they differ only in how they read the request and word the answer.
 */
import { Code, type ConnectError } from "@connectrpc/connect";
import type { TargetKind } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import { fail, invalid, notFound } from "../errors.ts";
import type { Executor } from "../executions/executor.ts";
import type { Notifier } from "../executions/notifier.ts";
import { orderedId } from "../ids.ts";
import type { Program } from "../store/engine.ts";
import { insertNew, type NewExecution } from "../store/executions.ts";
import { getIdempotency, putIdempotency } from "../store/idempotency.ts";
import { type IdempotencyKey, keyLifetimeMs } from "./idempotency.ts";
import type { Route, RouteTable } from "./route-table.ts";

/** How a request names its webhook. */
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

export interface Accepted {
  executionId: string;
  /** The idempotency key was used before: this is the first delivery's execution. */
  replayed: boolean;
}

export interface TriggerParts {
  routes: RouteTable;
  executor: Pick<Executor, "enqueue">;
  notifier: Notifier;
}

export class Trigger {
  readonly #parts: TriggerParts;

  constructor(parts: TriggerParts) {
    this.#parts = parts;
  }

  /** The route of an address, when it is in memory and takes deliveries: what nearly every request needs. */
  heldRoute({ orgId, environment, target, slug }: WebhookAddress): Route | undefined {
    if (target === null) return undefined;
    const route = this.#parts.routes.held(orgId, environment, target.kind, target.name, slug);
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

  /**
   * Queues the execution. Resolves when it is on disk.
   * @throws ConnectError 422 when the key was used with another body
   */
  async accept(route: Route, payload: Payload, key: IdempotencyKey | null): Promise<Accepted> {
    const row = newExecution(route, payload);
    const insert = key === null ? insertNew : (fresh: NewExecution) => insertOnce(fresh, route.webhook, key);
    const executionId = await this.#parts.executor.enqueue(row, insert);
    const replayed = executionId !== row.execution_id;
    // The log shows the execution as the webhook's line: no line of its own is written.
    if (!replayed) this.#parts.notifier.notify(route.logTopic);
    return { executionId, replayed };
  }
}

function newExecution(route: Route, payload: Payload): NewExecution {
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
    created_at: now,
  };
  if (route.mapping === null) return row;
  const { input, unmapped } = route.mapping.apply(payload.value);
  row.input = JSON.stringify(input);
  row.mapping = JSON.stringify(route.mapping.trace(payload.value));
  if (unmapped.length > 0) row.unmapped = JSON.stringify(unmapped);
  return row;
}

/** Inserts the execution unless its key has one already; returns the id of the key's execution. */
function* insertOnce(row: NewExecution, webhook: string, { key, bodyHash }: IdempotencyKey): Program<string> {
  const before = yield* getIdempotency(row.org_id, webhook, key, row.created_at);
  if (before !== undefined) {
    if (before.body_hash === bodyHash) return before.execution_id;
    throw invalid("The idempotency key was used with another body in the last 24 hours.", { status: 422 });
  }
  yield* putIdempotency({
    org_id: row.org_id,
    webhook,
    key,
    body_hash: bodyHash,
    execution_id: row.execution_id,
    expires_at: row.created_at + keyLifetimeMs,
  });
  return yield* insertNew(row);
}

/** One message for an unknown organization, target and slug: a stranger learns nothing of which it was. */
function noWebhook(): ConnectError {
  return notFound("There is no such webhook.");
}

function goneWebhook(): ConnectError {
  return fail(Code.NotFound, "The deployment of this webhook was deleted.", { status: 410 });
}

function ambiguous(slug: string, routes: readonly Route[]): ConnectError {
  const names = routes.map((route) => `${route.kind} '${route.name}'`).join(", ");
  return fail(
    Code.FailedPrecondition,
    `The slug '${slug}' belongs to several webhooks (${names}); use the path that names the agent or workflow.`,
    { status: 409 },
  );
}
