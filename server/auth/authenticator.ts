/**
 * Authenticates and authorizes calls before their body is read: from the method and the header `Authorization: Bearer`.
 * The `scope` option of the method names the scope that the key needs. Methods without the option are denied.
 */
import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { scope as scopeOption } from "../../proto/svc/v1/options_pb.ts";
import { fail } from "../errors.ts";
import { parseKey, sameSecret, scopeAllows } from "../keys.ts";
import { LruCache } from "../lru.ts";
import type { Engine } from "../store/engine.ts";
import { type KeyRow, touchKey } from "../store/tables/organizations.ts";
import type { KeyOwner } from "./caller.ts";
import { KeyCache, type KeyStore } from "./key-cache.ts";
import { isLive } from "./key-watch.ts";

/** The standard services of gRPC, whose methods have no scope. */
const publicPackage = /^grpc\.(?:health|reflection)\./;

/** Scopes of methods that were called. To read an option decodes it, which took longer than the query for the key. */
const requiredScopes = new WeakMap<DescMethod, string>();

/** `none` for a method that may be called without an API key; empty for a method that may not be called. */
function requiredScope(method: DescMethod): string {
  const known = requiredScopes.get(method);
  if (known !== undefined) return known;
  const scope = publicPackage.test(method.parent.typeName) ? "none" : getOption(method, scopeOption);
  requiredScopes.set(method, scope);
  return scope;
}

/** Whether a method may be called without an API key. */
export function isPublic(method: DescMethod): boolean {
  return requiredScope(method) === "none";
}

/** Whether the key of the caller has the scope of a method. */
export function hasScope(method: DescMethod, { scope }: Pick<KeyOwner, "scope">): boolean {
  const required = requiredScope(method);
  return required !== "" && scopeAllows(scope, required);
}

/** @throws ConnectError `permission_denied` when the key of the caller lacks the scope of the method */
export function checkScope(method: DescMethod, caller: Pick<KeyOwner, "scope">): void {
  if (hasScope(method, caller)) return;
  const required = requiredScope(method) || "none";
  throw fail("SCOPE_MISSING", `Permission denied: this key needs scope ${required}.`, {
    metadata: { required_scope: required, scope: caller.scope },
  });
}

/** The stored time of a key's last use may be this much out of date. */
const touchIntervalMs = 60_000;
const maxTouchedKeys = 10_000;

export class Authenticator {
  readonly #engine: Engine;
  readonly #keys: KeyCache;
  /** The last recorded use of a key; a key that was evicted is recorded once more. */
  readonly #touched = new LruCache<string, number>(maxTouchedKeys);

  constructor(store: KeyStore) {
    this.#engine = store.engine;
    this.#keys = new KeyCache(store);
  }

  /** @throws ConnectError `unauthenticated`; unknown, revoked and expired keys get the same message */
  async authenticate(header: string | null): Promise<KeyOwner> {
    const presented = header === null ? null : /^Bearer +(\S+) *$/i.exec(header);
    if (presented === null) {
      throw fail(
        "API_KEY_MISSING",
        "The request has no API key: send it in the header 'Authorization: Bearer <key>'.",
        { headers: { "www-authenticate": "Bearer" } },
      );
    }
    const key = parseKey(presented[1] ?? "");
    const row = key === null ? undefined : await this.#keys.find(key.keyId);
    const matches = key !== null && sameSecret(key.secretHash, row?.secret_hash);
    if (!matches || row === undefined || !isLive(row, Date.now())) {
      throw fail("API_KEY_INVALID", "The API key is unknown, revoked or expired.", {
        headers: { "www-authenticate": 'Bearer error="invalid_token"' },
      });
    }
    this.#touch(row);
    return {
      orgId: row.org_id,
      keyId: row.key_id,
      keyName: row.name,
      scope: row.scope,
      keyExpiresAtMs: row.expires_at,
    };
  }

  /**
   * The owner of the key of a call; null for a method that needs no key.
   * @throws ConnectError `unauthenticated`, or `permission_denied` when the key lacks the scope
   */
  async authorize(method: DescMethod, header: string | null): Promise<KeyOwner | null> {
    if (isPublic(method)) return null;
    const caller = await this.authenticate(header);
    checkScope(method, caller);
    return caller;
  }

  #touch(row: KeyRow): void {
    const now = Date.now();
    const last = this.#touched.get(row.key_id) ?? row.last_used_at ?? 0;
    if (now - last < touchIntervalMs) return;
    this.#touched.set(row.key_id, now);
    // Not awaited: a crash loses only the time of the last use.
    this.#engine.write(() => touchKey(row.key_id, now)).catch(() => this.#touched.delete(row.key_id));
  }
}
