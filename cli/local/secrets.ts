import type { Connection } from "../api/connection.ts";

/**
 * Brings the secrets of a service on this machine in line with those of a project.
 *
 * @param before - the secrets that an earlier call has set; secrets that were set in another way are kept
 */
export async function syncSecrets(
  connection: Connection,
  before: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): Promise<void> {
  const organization = await connection.client("organization");
  for (const [name, value] of Object.entries(wanted)) {
    if (before[name] !== value) await organization.setSecret({ name, value });
  }
  for (const name of Object.keys(before)) {
    if (wanted[name] === undefined) await organization.deleteSecret({ name });
  }
}
