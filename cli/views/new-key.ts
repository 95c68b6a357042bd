import type { NewKey } from "../../server/admin.ts";
import { cleanLine, localTime } from "../terminal/format.ts";
import { print } from "../terminal/output.ts";
import { say } from "../terminal/report.ts";

/** Says what a key is, and prints the key itself, alone on standard output. */
export function printNewKey(key: NewKey): void {
  const until = key.expiresAtMs === null ? "" : `, until ${localTime(new Date(key.expiresAtMs))}`;
  say.done(`Created ${key.keyId}, "${cleanLine(key.name)}", scope ${key.scope}${until}.`);
  print(key.token);
  say.hint("The key is shown only this once: export SVC_API_KEY=<the key>");
}

/** A new key as the API answers with one. */
export function newKeyJson(key: NewKey): { key: Record<string, string>; token: string } {
  const { keyId, name, scope, expiresAtMs, token } = key;
  const record: Record<string, string> = { key_id: keyId, name, scope };
  if (expiresAtMs !== null) record.expires_at = new Date(expiresAtMs).toISOString();
  return { key: record, token };
}
