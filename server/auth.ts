/**
 * Authenticates and authorizes calls. The interceptor reads the API key from `Authorization: Bearer`, checks its scope
 * against the `scope` option of the method, and stores the caller in the context. Methods without the option are denied.
 */
import { getOption } from "@bufbuild/protobuf";
import {
  Code,
  type ContextKey,
  createContextKey,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { scope as scopeOption } from "../proto/svc/v1/options_pb.ts";
import { fail } from "./errors.ts";
import { parseKey, sameSecret, scopeAllows } from "./keys.ts";
import { LruCache } from "./lru.ts";
import type { Engine } from "./store/engine.ts";
import { getKey, type KeyRow, touchKey } from "./store/organizations.ts";

export interface Caller {
  orgId: string;
  keyId: string;
  keyName: string;
  scope: string;
}

const callerKey: ContextKey<Caller | null> = createContextKey<Caller | null>(null);

/** @throws ConnectError `unauthenticated` in a method that needs no key */
export function callerOf(context: HandlerContext): Caller {
  const caller = context.values.get(callerKey);
  if (caller === null) throw fail(Code.Unauthenticated, "This method needs an API key.");
  return caller;
}

/** The stored time of a key's last use may be this much out of date. */
const touchIntervalMs = 60_000;
const maxTouchedKeys = 10_000;

export class Authenticator {
  readonly #engine: Engine;
  /** The last recorded use of a key; a key that was evicted is recorded once more. */
  readonly #touched = new LruCache<string, number>(maxTouchedKeys);

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** @throws ConnectError `unauthenticated`; unknown, revoked and expired keys get the same message */
  async authenticate(header: string | null): Promise<Caller> {
    const presented = header === null ? null : /^Bearer +(\S+) *$/i.exec(header);
    if (presented === null) {
      throw fail(
        Code.Unauthenticated,
        "The request has no API key: send it in the header 'Authorization: Bearer <key>'.",
        { headers: { "www-authenticate": "Bearer" } },
      );
    }
    const key = parseKey(presented[1] ?? "");
    const row = key === null ? undefined : await this.#engine.read(() => getKey(key.keyId));
    const matches = key !== null && sameSecret(key.secretHash, row?.secret_hash);
    if (!matches || row === undefined || !isLive(row, Date.now())) {
      throw fail(Code.Unauthenticated, "The API key is unknown, revoked or expired.", {
        headers: { "www-authenticate": 'Bearer error="invalid_token"' },
      });
    }
    this.#touch(row);
    return { orgId: row.org_id, keyId: row.key_id, keyName: row.name, scope: row.scope };
  }

  interceptor(): Interceptor {
    return (next) => async (request) => {
      const required = getOption(request.method, scopeOption);
      if (required !== "none") {
        const caller = await this.authenticate(request.header.get("authorization"));
        if (required === "" || !scopeAllows(caller.scope, required)) {
          throw fail(Code.PermissionDenied, `Permission denied: this key needs scope ${required || "none"}.`);
        }
        request.contextValues.set(callerKey, caller);
      }
      return next(request);
    };
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

function isLive(row: KeyRow, nowMs: number): boolean {
  return row.revoked_at === null && (row.expires_at === null || row.expires_at > nowMs);
}
