/**
 * The rate limits of a webhook: its own, its organization's, and a coarse one by sender that applies before the signature
 * is verified. Unverified requests are charged to the coarse limit only, so that strangers cannot exhaust the limits of a
 * signed webhook. Each process counts for itself: with several, the limits add up.
 */
import { performance } from "node:perf_hooks";
import type { Limits } from "../config/limits.ts";
import { quotaFailure } from "../errors/details.ts";
import { fail } from "../errors.ts";
import {
  type RateClaim,
  type RateLimit,
  RateLimiter,
  type RateState,
  rateLimitHeaders,
  sourceKey,
} from "./rate-limit.ts";
import type { Route } from "./route-table.ts";

/** The coarse limit as a multiple of the organization's. */
const coarseFactor = 4;

export class WebhookLimits {
  readonly #webhook: RateLimit;
  readonly #organization: RateLimit;
  readonly #sender: RateLimit;
  readonly #charged = new RateLimiter();
  readonly #coarse = new RateLimiter();
  readonly #claimsOf = new WeakMap<Route, RateClaim[]>();

  constructor(limits: Limits) {
    const { webhookRate, webhookBurst, organizationRate, organizationBurst } = limits;
    this.#webhook = { requestsPerSecond: webhookRate, burst: webhookBurst };
    this.#organization = { requestsPerSecond: organizationRate, burst: organizationBurst };
    this.#sender = {
      requestsPerSecond: organizationRate * coarseFactor,
      burst: organizationBurst * coarseFactor,
    };
  }

  /** Applies the coarse limit, before the body is read. @throws ConnectError 429 */
  admit(orgId: string, sender: string | undefined): void {
    const state = this.#coarse.take(`${orgId} ${sourceKey(sender)}`, this.#sender, performance.now());
    if (!state.allowed) throw refused([{ policy: "sender", state }]);
  }

  /**
   * Charges one request and returns the headers of the response.
   * @throws ConnectError 429 with the headers
   */
  charge(route: Route): Record<string, string> {
    const policies = named(this.#charged.takeAll(this.#claims(route), performance.now()));
    if (policies.some(({ state }) => !state.allowed)) throw refused(policies);
    return rateLimitHeaders(policies);
  }

  /** The headers of a response to a request that is not charged. */
  peek(route: Route): Record<string, string> {
    const now = performance.now();
    const states = this.#claims(route).map(({ key, limit }) => this.#charged.peek(key, limit, now));
    return rateLimitHeaders(named(states));
  }

  /** The state of a webhook's own limit. @param limit - that of the project file; null for the default */
  stateOf(orgId: string, webhook: string, limit: RateLimit | null): RateState {
    return this.#charged.peek(webhookKey(orgId, webhook), limit ?? this.#webhook, performance.now());
  }

  /** Created once for each route; a route lives until its organization deploys again. */
  #claims(route: Route): RateClaim[] {
    let claims = this.#claimsOf.get(route);
    if (claims === undefined) {
      claims = [
        { key: webhookKey(route.orgId, route.webhook), limit: route.definition.rateLimit ?? this.#webhook },
        { key: route.orgId, limit: this.#organization },
      ];
      this.#claimsOf.set(route, claims);
    }
    return claims;
  }
}

function webhookKey(orgId: string, webhook: string): string {
  return `${orgId}/${webhook}`;
}

function named(states: readonly RateState[]): { policy: string; state: RateState }[] {
  return states.map((state, index) => ({ policy: index === 0 ? "webhook" : "organization", state }));
}

function refused(policies: { policy: string; state: RateState }[]) {
  const limits = policies
    .filter(({ state }) => !state.allowed)
    .map(({ policy, state }) => `${state.limit.requestsPerSecond} per second for this ${policy}`);
  const violations = policies
    .filter(({ state }) => !state.allowed)
    .map(({ policy, state }) => ({
      subject: policy,
      description: `${state.limit.requestsPerSecond} requests per second`,
    }));
  return fail("RATE_LIMITED", `Too many requests: the limit is ${limits.join(" and ")}.`, {
    details: [quotaFailure(violations)],
    headers: rateLimitHeaders(policies),
  });
}
