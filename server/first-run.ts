/** The first organization and key of an empty store. */
import { orderedId, randomId } from "./ids.ts";
import { createKey, parseKey } from "./keys.ts";
import type { Engine } from "./store/engine.ts";
import { countOrganizations, insertKey, insertOrganization } from "./store/organizations.ts";

/** A name for this process in leases; new at every start. */
export const newOwner = (): string => orderedId("srv");

/**
 * Makes the first organization if there is none; returns the key's text if one was made up.
 * @param apiKey - the operator's own key, registered instead of one made up
 * @throws Error when it has not the form of a key
 */
export async function prepareFirstRun(engine: Engine, apiKey: string | null): Promise<string | null> {
  if ((await engine.read(countOrganizations)) > 0) return null;
  const made = apiKey === null ? createKey() : null;
  const key = made ?? parseKey(apiKey ?? "");
  if (key === null) {
    throw new Error(
      "Cannot register SVC_API_KEY: a key has the form svc_<id>_<secret>, the id of 1 to 64 letters, digits or '-', the secret of at least 16.",
    );
  }
  const now = Date.now();
  const orgId = randomId("org");
  await engine.write(function* () {
    if ((yield* countOrganizations()) > 0) return;
    yield* insertOrganization({ org_id: orgId, name: "Default organization", created_at: now });
    yield* insertKey({
      key_id: key.keyId,
      org_id: orgId,
      name: "first key",
      secret_hash: key.secretHash,
      scope: "full",
      created_at: now,
      expires_at: null,
    });
  });
  return made?.text ?? null;
}
