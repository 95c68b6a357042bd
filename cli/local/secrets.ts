import type { ProjectDefinition } from "../../project/definition.ts";
import type { Connection } from "../api/connection.ts";
import { isNotFound } from "../api/error-messages.ts";

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
    if (wanted[name] !== undefined) continue;
    // Another command may have removed it.
    await organization.deleteSecret({ name }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

/** The names of the secrets with which the webhooks of a project verify signatures. */
export function webhookSecrets({ agents, workflows }: ProjectDefinition): string[] {
  const names = [...agents, ...workflows].flatMap(({ webhooks }) =>
    webhooks.flatMap(({ signature }) => signature?.secrets ?? []),
  );
  return [...new Set(names)];
}
