/**
 * Accepting a webhook: from the named webhook and its payload to a committed execution. The hot path and the RPC method
 * share this; they differ only in how they read the request and word the answer.
 */
import { Code, type ConnectError } from "@connectrpc/connect";
import type { TargetKind } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import { fail, notFound } from "../errors.ts";
import type { Executor } from "../executions/executor.ts";
import type { LogWriter } from "../executions/log-writer.ts";
import { orderedId } from "../ids.ts";
import type { Engine } from "../store/engine.ts";
import { insertExecution } from "../store/executions.ts";
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
  orgId: string;
}

export class Trigger {
  readonly #engine: Engine;
  readonly #routes: RouteTable;
  readonly #executor: Executor;
  readonly #logs: LogWriter;

  constructor(parts: { engine: Engine; routes: RouteTable; executor: Executor; logs: LogWriter }) {
    this.#engine = parts.engine;
    this.#routes = parts.routes;
    this.#executor = parts.executor;
    this.#logs = parts.logs;
  }

  /** @throws ConnectError: 404 when there is no such webhook, 409 when several match, 410 when its deployment was deleted. */
  async route(address: WebhookAddress): Promise<Route> {
    const { orgId, environment, target, slug } = address;
    if (target !== null) {
      const route = await this.#routes.find(orgId, environment, target.kind, target.name, slug);
      if (route === undefined) throw noWebhook();
      if (route.gone) throw goneWebhook();
      return route;
    }
    const routes = await this.#routes.findBySlug(orgId, environment, slug);
    const live = routes.filter((route) => !route.gone);
    const [only] = live;
    if (only === undefined) throw routes.length > 0 ? goneWebhook() : noWebhook();
    if (live.length > 1) throw ambiguous(slug, live);
    return only;
  }

  /** Queues the execution. Resolves when it is on disk. */
  async accept(route: Route, payload: Payload): Promise<Accepted> {
    const now = Date.now();
    const executionId = orderedId("exe", now);
    const mapped = route.mapping?.apply(payload.value);
    await this.#engine.write(() =>
      insertExecution({
        org_id: route.orgId,
        execution_id: executionId,
        kind: route.kind,
        name: route.name,
        origin: "webhook",
        deployment_id: route.deploymentId,
        environment: route.environment,
        input: mapped === undefined ? payload.text : JSON.stringify(mapped.input),
        unmapped:
          mapped === undefined || mapped.unmapped.length === 0 ? "[]" : JSON.stringify(mapped.unmapped),
        parent_execution_id: null,
        parent_key: null,
        depth: 0,
        created_at: now,
      }),
    );
    this.#executor.wake(route.deploymentId);
    this.#logs.add([
      {
        org_id: route.orgId,
        at: now,
        level: "info",
        source: "webhook",
        message: `Webhook '${route.slug}' of ${route.kind} '${route.name}' accepted.`,
        execution_id: executionId,
        deployment_id: route.deploymentId,
        name: route.name,
        environment: route.environment,
      },
    ]);
    return { executionId, orgId: route.orgId };
  }
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
