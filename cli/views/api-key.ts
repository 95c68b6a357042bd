import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "../../proto/svc/v1/organization_pb.ts";
import type { NewKey } from "../../server/admin/index.ts";
import { ago, dateOf } from "../api/timestamps.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { formatTime, relativeTime } from "../terminal/format.ts";
import { print } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import type { Cell } from "../terminal/table.ts";

/** A week. */
const warningMs = 7 * 86_400_000;

/** Reports a new key, and prints the key itself as the only line on standard output. */
export function printNewKey(key: NewKey): void {
  const expiry = key.expiresAtMs === null ? "" : `, expires ${formatTime(new Date(key.expiresAtMs))}`;
  report.success(`Created API key ${key.keyId} "${sanitizeLine(key.name)}", scope ${key.scope}${expiry}.`);
  print(key.token);
  report.hint("The key is shown only once. To use it: export SVC_API_KEY=<key>");
}

/** A new key in the JSON form of the REST API. */
export function newKeyJson(key: NewKey): { key: Record<string, string>; token: string } {
  const { keyId, name, scope, expiresAtMs, token } = key;
  const record: Record<string, string> = { key_id: keyId, name, scope };
  if (expiresAtMs !== null) record.expires_at = new Date(expiresAtMs).toISOString();
  return { key: record, token };
}

/** Whether a key is accepted: neither revoked nor expired. */
export function isValidKey({ revokedAt, expiresAt }: ApiKey): boolean {
  const expires = dateOf(expiresAt);
  return revokedAt === undefined && (expires === null || expires.getTime() > Date.now());
}

/** The state of a key as a table cell. */
export function keyStateCell(key: ApiKey): Cell {
  if (key.revokedAt !== undefined) return { text: `revoked ${ago(key.revokedAt)}`, paint: colors.red };
  const expires = dateOf(key.expiresAt);
  if (expires === null) return { text: "valid", paint: colors.green };
  if (!isValidKey(key)) return { text: `expired ${relativeTime(expires)}`, paint: colors.red };
  return {
    text: `expires ${relativeTime(expires)}`,
    paint: expiresSoon(expires) ? colors.yellow : colors.green,
  };
}

/** Warns of a key that expires within a week. */
export function warnOfExpiry(subject: string, expiresAt: Timestamp | undefined): void {
  const expires = dateOf(expiresAt);
  if (expires === null || !expiresSoon(expires)) return;
  report.warning(
    `${subject} expires ${relativeTime(expires)}. Create another one with \`svc keys create --name <name>\`.`,
  );
}

function expiresSoon(expires: Date): boolean {
  return expires.getTime() - Date.now() <= warningMs;
}
