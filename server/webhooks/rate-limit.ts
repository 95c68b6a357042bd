/**
 * Rate limits: a token bucket for each key.
 *
 * Glossary: a *bucket* holds at most `burst` tokens, gains `requestsPerSecond` of them each second and starts full; a
 * *claim* takes one token from one bucket.
 *
 * A webhook request makes two claims. Before its signature is verified, a coarse one by sender (`sourceKey`), which bounds
 * the requests that strangers can have verified: a bucket of the webhook's own would let anyone who knows its URL starve
 * its sender. After it, one of the webhook's and the organization's buckets together.
 */
import { LruCache } from "../lru.ts";

export interface RateLimit {
  /** Tokens gained per second; more than 0, fractions allowed. */
  requestsPerSecond: number;
  /** Tokens that a full bucket holds; at least 1. */
  burst: number;
}

export interface RateClaim {
  /** The bucket; claims of one call have different keys. */
  key: string;
  /** May change between claims; a bucket that holds more than the new burst is cut to it. */
  limit: RateLimit;
}

/** A bucket after a claim. */
export interface RateState {
  limit: RateLimit;
  /** Whether this bucket held a token. */
  allowed: boolean;
  /** Whole tokens left; at least 0. */
  remaining: number;
  /** Seconds, rounded up, until the bucket is full or, when `remaining` is 0, until it holds a token again. */
  resetSeconds: number;
  /** Seconds, rounded up and at least 1, until this bucket would allow the claim; 0 when it did. */
  retryAfterSeconds: number;
}

interface Bucket {
  tokens: number;
  /** The time at which `tokens` was computed. */
  atMs: number;
}

/** Compensates for rounding in a refill: a client that waits exactly as long as told must not be refused. */
const epsilon = 1e-9;

export class RateLimiter {
  readonly #buckets: LruCache<string, Bucket>;

  /**
   * @param options - `maxKeys`: buckets kept, at least 1, 100,000 by default. Over it the least recently used is evicted,
   *   which gives its key a full bucket: memory stays bounded, and a flood of keys locks no other key out.
   */
  constructor({ maxKeys = 100_000 }: { maxKeys?: number } = {}) {
    this.#buckets = new LruCache(maxKeys);
  }

  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Takes a token from one bucket, if it holds one.
   *
   * @param nowMs - from a monotonic clock such as `performance.now()`
   */
  take(key: string, limit: RateLimit, nowMs: number): RateState {
    const bucket = this.#bucket(key, limit, nowMs);
    const allowed = holdsToken(bucket);
    if (allowed) charge(bucket);
    return stateOf(bucket, limit, allowed);
  }

  /**
   * Takes a token from each bucket, or from none when one of them is empty.
   *
   * @returns a state for each claim, in their order; `allowed` says which buckets refused
   */
  takeAll(claims: readonly RateClaim[], nowMs: number): RateState[] {
    const held = claims.map(({ key, limit }) => ({ limit, bucket: this.#bucket(key, limit, nowMs) }));
    const all = held.every(({ bucket }) => holdsToken(bucket));
    return held.map(({ limit, bucket }) => {
      const allowed = all || holdsToken(bucket);
      if (all) charge(bucket);
      return stateOf(bucket, limit, allowed);
    });
  }

  /** The state that a claim would find, without taking a token: for responses sent before the claim. */
  peek(key: string, limit: RateLimit, nowMs: number): RateState {
    const known = this.#buckets.get(key);
    const bucket = known === undefined ? newBucket(limit, nowMs) : refill(known, limit, nowMs);
    return stateOf(bucket, limit, holdsToken(bucket));
  }

  #bucket(key: string, limit: RateLimit, nowMs: number): Bucket {
    const known = this.#buckets.get(key);
    if (known !== undefined) return refill(known, limit, nowMs);
    const bucket = newBucket(limit, nowMs);
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/**
 * The key of a sender: its IPv4 address, or the /64 network of its IPv6 address, all of which one sender may use.
 *
 * @param address - as `socket.remoteAddress` gives it; undefined once the connection is gone
 */
export function sourceKey(address: string | undefined): string {
  if (address === undefined) return "none";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("%", 1)[0]?.split("::") ?? [];
  const before = head === "" ? [] : head.split(":");
  const after = tail ? tail.split(":") : [];
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}

/** A state and the name of its policy, for example `webhook`: visible ASCII without quotes and backslashes. */
export interface PolicyState {
  policy: string;
  state: RateState;
}

/**
 * `RateLimit-Policy`, `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11) and, when refused, `Retry-After` (RFC 9110).
 * A policy's quota `q` is the burst, its window `w` the seconds that refill it; the quota unit is the draft's default,
 * requests. A refusal lists only the limits that refused: the draft requires `Retry-After` to be no earlier than the end
 * of any listed window.
 */
export function rateLimitHeaders(policies: readonly PolicyState[]): Record<string, string> {
  if (policies.length === 0) return {};
  const refusing = policies.filter(({ state }) => !state.allowed);
  const listed = refusing.length === 0 ? policies : refusing;
  const headers: Record<string, string> = {
    "RateLimit-Policy": policies.map(policyItem).join(", "),
    RateLimit: listed
      .map(({ policy, state }) => `"${policy}";r=${state.remaining};t=${state.resetSeconds}`)
      .join(", "),
  };
  if (refusing.length > 0) {
    headers["Retry-After"] = String(Math.max(...refusing.map(({ state }) => state.retryAfterSeconds)));
  }
  return headers;
}

/** The item's text by limit, which lives as long as its webhook's route. */
const policyItems = new WeakMap<RateLimit, Map<string, string>>();

function policyItem({ policy, state: { limit } }: PolicyState): string {
  let items = policyItems.get(limit);
  if (items === undefined) {
    items = new Map();
    policyItems.set(limit, items);
  }
  let item = items.get(policy);
  if (item === undefined) {
    const windowSeconds = Math.max(1, Math.ceil(limit.burst / limit.requestsPerSecond));
    item = `"${policy}";q=${Math.floor(limit.burst)};w=${windowSeconds}`;
    items.set(policy, item);
  }
  return item;
}

function newBucket(limit: RateLimit, nowMs: number): Bucket {
  return { tokens: limit.burst, atMs: nowMs };
}

function refill(bucket: Bucket, limit: RateLimit, nowMs: number): Bucket {
  const gained = (Math.max(0, nowMs - bucket.atMs) * limit.requestsPerSecond) / 1000;
  bucket.tokens = Math.min(limit.burst, bucket.tokens + gained);
  bucket.atMs = Math.max(nowMs, bucket.atMs);
  return bucket;
}

function holdsToken(bucket: Bucket): boolean {
  return bucket.tokens + epsilon >= 1;
}

function charge(bucket: Bucket): void {
  bucket.tokens = Math.max(0, bucket.tokens - 1);
}

function stateOf(bucket: Bucket, limit: RateLimit, allowed: boolean): RateState {
  const { tokens } = bucket;
  const remaining = Math.floor(tokens + epsilon);
  const goal = remaining === 0 ? 1 : limit.burst;
  const resetSeconds = Math.max(0, Math.ceil((goal - tokens) / limit.requestsPerSecond - epsilon));
  return {
    limit,
    allowed,
    remaining,
    resetSeconds,
    retryAfterSeconds: allowed ? 0 : Math.max(1, resetSeconds),
  };
}
