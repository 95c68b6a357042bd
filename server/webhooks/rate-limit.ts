/**
 * How often something may happen: a token bucket for each key.
 *
 * Glossary: a *bucket* holds at most `burst` tokens, gains `requestsPerSecond` of them each second and is full when it is
 * first seen; a *claim* asks one bucket for one token. A full bucket is the same as none, so it is forgotten.
 *
 * A webhook makes two claims. Before its signature is verified, a coarse one by where it comes from (`sourceKey`), which
 * bounds what strangers can have verified: by source, because a bucket of the webhook's own would let whoever knows its
 * URL starve its sender. After it, one of the webhook's and the organization's buckets together.
 */

export interface RateLimit {
  /** Tokens gained per second; more than 0, fractions allowed. */
  requestsPerSecond: number;
  /** Tokens that a full bucket holds; at least 1. */
  burst: number;
}

export interface RateClaim {
  /** Names the bucket; different in each claim of one call. */
  key: string;
  /** May change from claim to claim; a bucket that holds more than the new burst is cut to it. */
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
  key: string;
  tokens: number;
  /** When `tokens` was right. */
  atMs: number;
  /** When it will be full under the limit of its last claim. */
  fullAtMs: number;
}

/** Tokens that rounding may take from a refill; without them, who waits exactly long enough may be refused. */
const epsilon = 1e-9;
/** Buckets looked at in each claim, so that full ones are forgotten faster than new ones come. */
const sweepPerClaim = 2;
/** Fewer buckets than this are not worth looking at. */
const sweepFromSize = 64;
/** Buckets among which the fullest is given up when there are too many. */
const evictionSample = 8;

export class RateLimiter {
  readonly #maxKeys: number;
  readonly #buckets = new Map<string, Bucket>();
  #sweep: Iterator<Bucket> = this.#buckets.values();

  /**
   * @param options - `maxKeys`: buckets kept at once, at least 1, 100,000 by default. Over it the fullest of a few is
   *   given up, which hands its key a new burst: memory stays bounded, and no flood of keys locks another key out.
   */
  constructor({ maxKeys = 100_000 }: { maxKeys?: number } = {}) {
    this.#maxKeys = maxKeys;
  }

  /** Buckets kept at the moment. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Takes a token from one bucket, if it holds one.
   *
   * @param nowMs - of a clock that never goes back, such as `performance.now()`
   */
  take(key: string, limit: RateLimit, nowMs: number): RateState {
    const bucket = this.#bucket(key, limit, nowMs);
    const allowed = holdsToken(bucket);
    if (allowed) charge(bucket, limit);
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
      if (all) charge(bucket, limit);
      return stateOf(bucket, limit, allowed);
    });
  }

  /** What a claim would find, without taking anything: for answers that come before the claim. */
  peek(key: string, limit: RateLimit, nowMs: number): RateState {
    const known = this.#buckets.get(key);
    const bucket = known === undefined ? newBucket(key, limit, nowMs) : refill(known, limit, nowMs);
    return stateOf(bucket, limit, holdsToken(bucket));
  }

  #bucket(key: string, limit: RateLimit, nowMs: number): Bucket {
    this.#forgetFull(nowMs);
    const known = this.#buckets.get(key);
    if (known !== undefined) return refill(known, limit, nowMs);
    if (this.#buckets.size >= this.#maxKeys) this.#evict();
    const bucket = newBucket(key, limit, nowMs);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #forgetFull(nowMs: number): void {
    if (this.#buckets.size < sweepFromSize) return;
    for (let looked = 0; looked < sweepPerClaim; looked++) {
      const bucket = this.#next();
      if (bucket !== undefined && bucket.fullAtMs <= nowMs) this.#buckets.delete(bucket.key);
    }
  }

  #evict(): void {
    let fullest = this.#next();
    for (let looked = 1; looked < evictionSample; looked++) {
      const bucket = this.#next();
      if (fullest === undefined || (bucket !== undefined && bucket.fullAtMs < fullest.fullAtMs))
        fullest = bucket;
    }
    if (fullest !== undefined) this.#buckets.delete(fullest.key);
  }

  /** The next bucket in turn; undefined when there is none. A map's iterator survives changes of the map. */
  #next(): Bucket | undefined {
    const { done, value } = this.#sweep.next();
    if (!done) return value;
    this.#sweep = this.#buckets.values();
    return this.#sweep.next().value;
  }
}

/**
 * The key of a source: the address, IPv4 in its usual form, IPv6 cut to its /64 network, of which one sender has all.
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
const none: readonly PolicyState[] = [];

export interface PolicyState {
  policy: string;
  state: RateState;
}

/**
 * `RateLimit-Policy`, `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11) and, when refused, `Retry-After` (RFC 9110).
 * A policy's quota `q` is the burst, its window `w` the seconds that refill it; the quota unit is the draft's default,
 * requests. A refusal lists only the limits that refused: the draft wants `Retry-After` no earlier than any listed
 * window's end.
 */
export function rateLimitHeaders(policies: readonly PolicyState[]): Record<string, string> {
  if (policies.length === 0) return {};
  const refusing = policies.some(({ state }) => !state.allowed)
    ? policies.filter(({ state }) => !state.allowed)
    : none;
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

/** By limit, which lives as long as its webhook's route: the text is the same in every answer. */
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

function newBucket(key: string, limit: RateLimit, nowMs: number): Bucket {
  return { key, tokens: limit.burst, atMs: nowMs, fullAtMs: nowMs };
}

function refill(bucket: Bucket, limit: RateLimit, nowMs: number): Bucket {
  const gained = (Math.max(0, nowMs - bucket.atMs) * limit.requestsPerSecond) / 1000;
  bucket.tokens = Math.min(limit.burst, bucket.tokens + gained);
  bucket.atMs = Math.max(nowMs, bucket.atMs);
  bucket.fullAtMs = fullAt(bucket, limit);
  return bucket;
}

function holdsToken(bucket: Bucket): boolean {
  return bucket.tokens + epsilon >= 1;
}

function charge(bucket: Bucket, limit: RateLimit): void {
  bucket.tokens = Math.max(0, bucket.tokens - 1);
  bucket.fullAtMs = fullAt(bucket, limit);
}

function fullAt(bucket: Bucket, limit: RateLimit): number {
  return bucket.atMs + ((limit.burst - bucket.tokens) * 1000) / limit.requestsPerSecond;
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
