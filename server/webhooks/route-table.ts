/**
 * Which webhook a request means. Routes are held by organization with their mappings compiled, and forgotten the moment a
 * deployment of the organization activates here or another process writes to the store.
 */
import type { TargetKind, WebhookDefinition } from "../../project/definition.ts";
import { compileMapping, type Mapping } from "../../project/mapping.ts";
import { logTopic } from "../executions/notifier.ts";
import { listRoutes, type WebhookRow } from "../store/activation.ts";
import type { Engine } from "../store/engine.ts";
import { parseStored } from "../store/json.ts";

export interface Route {
  orgId: string;
  environment: string;
  kind: TargetKind;
  name: string;
  slug: string;
  /** Environment, kind, name and slug, joined by `/`: names the webhook within its organization. */
  webhook: string;
  /** What those who follow the organization's log listen to. */
  logTopic: string;
  deploymentId: string;
  definition: WebhookDefinition;
  /** Null when the payload is the input. */
  mapping: Mapping | null;
  /** Its deployment was deleted. */
  gone: boolean;
}

interface Routes {
  byTarget: Map<string, Route>;
  bySlug: Map<string, Route[]>;
}

/** Organizations whose routes are held; the longest unused goes first. */
const maxOrganizations = 10_000;

export class RouteTable {
  readonly #engine: Engine;
  readonly #organizations = new Map<string, Routes>();
  #version: number;
  /** Asking what others wrote costs more than the rest of finding a route: once a millisecond is enough. */
  #checkedAtMs = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#version = engine.version();
  }

  /** A route that is in memory, without waiting; undefined says nothing of whether there is one. */
  held(orgId: string, environment: string, kind: TargetKind, name: string, slug: string): Route | undefined {
    return this.#held(orgId)?.byTarget.get(`${environment}/${kind}/${name}/${slug}`);
  }

  async find(
    orgId: string,
    environment: string,
    kind: TargetKind,
    name: string,
    slug: string,
  ): Promise<Route | undefined> {
    const routes = this.#held(orgId) ?? (await this.#load(orgId));
    return routes.byTarget.get(`${environment}/${kind}/${name}/${slug}`);
  }

  async findBySlug(orgId: string, environment: string, slug: string): Promise<readonly Route[]> {
    const routes = this.#held(orgId) ?? (await this.#load(orgId));
    return routes.bySlug.get(`${environment}/${slug}`) ?? [];
  }

  /** What this organization has deployed has changed. */
  forget(orgId: string): void {
    this.#organizations.delete(orgId);
  }

  #held(orgId: string): Routes | undefined {
    const now = Date.now();
    if (now !== this.#checkedAtMs) {
      this.#checkedAtMs = now;
      const version = this.#engine.version();
      if (version !== this.#version) {
        this.#version = version;
        this.#organizations.clear();
      }
    }
    return this.#organizations.get(orgId);
  }

  async #load(orgId: string): Promise<Routes> {
    const rows = await this.#engine.read(() => listRoutes(orgId));
    const routes: Routes = { byTarget: new Map(), bySlug: new Map() };
    for (const row of rows) {
      const route = routeFrom(row);
      routes.byTarget.set(route.webhook, route);
      const slug = `${route.environment}/${route.slug}`;
      const same = routes.bySlug.get(slug);
      if (same === undefined) routes.bySlug.set(slug, [route]);
      else same.push(route);
    }
    // An organization without webhooks may be one that does not exist: strangers must not fill the table.
    if (rows.length > 0) {
      this.#organizations.set(orgId, routes);
      if (this.#organizations.size > maxOrganizations) {
        for (const oldest of this.#organizations.keys()) {
          this.#organizations.delete(oldest);
          break;
        }
      }
    }
    return routes;
  }
}

/** The route of a stored webhook. */
export function routeFrom(row: WebhookRow): Route {
  const definition = parseStored<WebhookDefinition>(row.definition);
  return {
    orgId: row.org_id,
    environment: row.environment,
    kind: row.kind,
    name: row.name,
    slug: row.slug,
    webhook: `${row.environment}/${row.kind}/${row.name}/${row.slug}`,
    logTopic: logTopic(row.org_id),
    deploymentId: row.deployment_id,
    definition,
    mapping: definition.fieldMapping.length > 0 ? compileMapping(definition.fieldMapping) : null,
    gone: row.gone === 1,
  };
}
