/** Sessions of the web console. A browser holds the token of a session; the store holds its SHA-256. */
import { first, notify, type Program, run } from "../engine.ts";
import type { KeyRow } from "./organizations.ts";

export interface ConsoleSessionRow {
  org_id: string;
  /** SHA-256 of the token, lower-case hex. */
  token_hash: string;
  key_id: string;
  expires_at: number;
}

const INSERT = `INSERT INTO console_sessions (org_id, token_hash, key_id, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5)`;
const SELECT_KEY = `SELECT k.*, s.expires_at AS session_expires_at FROM console_sessions s
JOIN api_keys k ON k.key_id = s.key_id AND k.org_id = s.org_id
WHERE s.token_hash = ?1 AND s.expires_at > ?2`;
const DELETE = "DELETE FROM console_sessions WHERE token_hash = ?1";
const DELETE_EXPIRED = `DELETE FROM console_sessions WHERE token_hash IN
(SELECT token_hash FROM console_sessions WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)`;

export function* insertConsoleSession(row: ConsoleSessionRow, nowMs: number): Program<void> {
  yield* run(INSERT, row.org_id, row.token_hash, row.key_id, nowMs, row.expires_at);
}

/** The API key of a session that has not expired. The key may have been revoked. */
export function* keyOfSession(
  tokenHash: string,
  nowMs: number,
): Program<(KeyRow & { session_expires_at: number }) | undefined> {
  return yield* first(SELECT_KEY, tokenHash, nowMs);
}

export function* deleteConsoleSession(tokenHash: string): Program<void> {
  yield* run(DELETE, tokenHash);
  yield* notify("sessions", tokenHash);
}

export function* deleteExpiredConsoleSessions(nowMs: number, limit: number): Program<void> {
  yield* run(DELETE_EXPIRED, nowMs, limit);
}
