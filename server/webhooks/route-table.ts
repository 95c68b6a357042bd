/**
 * Finds the route of a webhook. Routes are cached by organization with their mappings compiled. The store notifies all
 * processes when the webhooks of an organization have changed; they evict the organization.
 */
import type { TargetKind, WebhookDefinition } from "../../project/definition.ts";
import { compileMapping, type Mapping } from "../../project/mapping.ts";
import { compileFilter, type Filter } from "../../project/webhook/filter.ts";
import { LruCache } from "../lru.ts";
import type { Engine } from "../store/engine.ts";
import { listRoutes, type WebhookRow } from "../store/tables/activation.ts";
import { parseStored } from "../store/tables/json.ts";

export interface Route {
  orgId: string;
  environment: string;
  kind: TargetKind;
  name: string;
  slug: string;
  /** Environment, kind, name and slug, joined by `/`: names the webhook within its organization. */
  webhook: string;
  deploymentId: string;
  definition: WebhookDefinition;
  /** Null when the payload is the input. */
  mapping: Mapping | null;
  /** Null when every request starts an execution. */
  filter: Filter | null;
  /** The deployment was deleted. */
  gone: boolean;
}

interface Routes {
  byTarget: Map<string, Route>;
  bySlug: Map<string, Route[]>;
}

/** Organizations whose routes are cached. */
const maxOrganizations = 10_000;

export class RouteTable {
  readonly #engine: Engine;
  readonly #organizations = new LruCache<string, Routes>(maxOrganizations);
  /** Increases with each change: rows that were read before a change must not enter the cache. */
  #generation = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.listen("routes", (orgId) => {
      this.#generation++;
      if (orgId === null) this.#organizations.clear();
      else this.#organizations.delete(orgId);
    });
  }

  /** A cached route, without waiting; undefined when the organization is not cached or has no such webhook. */
  cached(
    orgId: string,
    environment: string,
    kind: TargetKind,
    name: string,
    slug: string,
  ): Route | undefined {
    return this.#organizations.get(orgId)?.byTarget.get(`${environment}/${kind}/${name}/${slug}`);
  }

  async find(
    orgId: string,
    environment: string,
    kind: TargetKind,
    name: string,
    slug: string,
  ): Promise<Route | undefined> {
    const routes = this.#organizations.get(orgId) ?? (await this.#load(orgId));
    return routes.byTarget.get(`${environment}/${kind}/${name}/${slug}`);
  }

  async findBySlug(orgId: string, environment: string, slug: string): Promise<readonly Route[]> {
    const routes = this.#organizations.get(orgId) ?? (await this.#load(orgId));
    return routes.bySlug.get(`${environment}/${slug}`) ?? [];
  }

  async #load(orgId: string): Promise<Routes> {
    const generation = this.#generation;
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
    // An unknown organization has no webhooks: requests of strangers must not fill the cache.
    if (rows.length > 0 && generation === this.#generation) this.#organizations.set(orgId, routes);
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
    webhook: webhookName(row),
    deploymentId: row.deployment_id,
    definition,
    mapping: definition.fieldMapping.length > 0 ? compileMapping(definition.fieldMapping) : null,
    filter: compileFilter(definition),
    gone: row.gone === 1,
  };
}

/** The name of a webhook within its organization. */
export function webhookName({
  environment,
  kind,
  name,
  slug,
}: Pick<WebhookRow, "environment" | "kind" | "name" | "slug">): string {
  return `${environment}/${kind}/${name}/${slug}`;
}
