/**
 * Sessions of the web console: the browser exchanges an API key for a random token in a cookie, so that no script can read
 * the key. A session ends after 12 hours, at sign-out, and when its key is revoked or expires.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Engine } from "../store/engine.ts";
import {
  deleteConsoleSession,
  insertConsoleSession,
  keyOfSession,
} from "../store/tables/console-sessions.ts";
import type { KeyOwner } from "./caller.ts";
import { isLive } from "./key-watch.ts";

export const sessionMs: number = 12 * 3_600_000;

export interface ConsoleSession {
  owner: KeyOwner;
  expiresAt: number;
}

export class ConsoleSessions {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Opens a session for an authenticated caller. */
  async open({ orgId, keyId }: KeyOwner): Promise<{ token: string; expiresAt: number }> {
    const token = randomBytes(32).toString("base64url");
    const now = Date.now();
    const expiresAt = now + sessionMs;
    const row = { org_id: orgId, token_hash: hash(token), key_id: keyId, expires_at: expiresAt };
    await this.#engine.write(() => insertConsoleSession(row, now));
    return { token, expiresAt };
  }

  /** Null when the session does not exist, has expired, or its key is no longer valid. */
  async find(token: string): Promise<ConsoleSession | null> {
    const now = Date.now();
    const row = await this.#engine.read(() => keyOfSession(hash(token), now));
    if (row === undefined || !isLive(row, now)) return null;
    const owner = {
      ...{ orgId: row.org_id, keyId: row.key_id, keyName: row.name, scope: row.scope },
      keyExpiresAtMs: row.expires_at,
    };
    return { owner, expiresAt: Math.min(row.session_expires_at, row.expires_at ?? Number.MAX_SAFE_INTEGER) };
  }

  /**
   * Calls `onEnd` when the session is closed, in any process.
   *
   * @returns a function that stops this
   */
  watch(token: string, onEnd: () => void): () => void {
    const own = hash(token);
    const check = async () => {
      if ((await this.find(token)) === null) onEnd();
    };
    return this.#engine.listen("sessions", (tokenHash) => {
      if (tokenHash === own) onEnd();
      // A notification may have been lost. Without the store, the session ends at its time.
      else if (tokenHash === null) check().catch(() => {});
    });
  }

  async close(token: string): Promise<void> {
    await this.#engine.write(() => deleteConsoleSession(hash(token)));
  }
}

function hash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
