/** Creates the first organization and API key in an empty store. */
import { orderedId, randomId } from "./ids.ts";
import { createKey, parseKey } from "./keys.ts";
import type { Engine } from "./store/engine.ts";
import { countOrganizations, insertKey, insertOrganization } from "./store/tables/organizations.ts";
import { firstOrganizationSetting, insertSetting } from "./store/tables/settings.ts";

/** Names this process in leases. Each start of a server has another one. */
export const newOwner = (): string => orderedId("srv");

/**
 * Creates the first organization and its key when the store has no organization.
 *
 * A generated key exists only in the output of `show`, which therefore runs before the transaction: a server that is
 * killed between the two leaves an empty store, and the next start shows another key. Of several servers that start at
 * once on an empty store, one creates the organization; only that one may show its key, after the transaction.
 *
 * @param apiKey - the key to register; null generates one
 * @throws Error when `apiKey` does not have the form of a key
 */
export async function prepareFirstRun(
  { engine, exclusive }: { engine: Engine; exclusive: boolean },
  apiKey: string | null,
  show: (key: string) => void,
): Promise<void> {
  if ((await engine.read(countOrganizations)) > 0) return;
  const generated = apiKey === null ? createKey() : null;
  const key = generated ?? parseKey(apiKey ?? "");
  if (key === null) {
    throw new Error(
      "Cannot register SVC_API_KEY: a key has the form svc_<id>_<secret>, the id of 1 to 64 letters, digits or '-', the secret of at least 16.",
    );
  }
  if (generated !== null && exclusive) show(generated.text);
  const now = Date.now();
  const orgId = randomId("org");
  const created = await engine.write(function* () {
    // The second of two servers waits here for the transaction of the first.
    if (!(yield* insertSetting(firstOrganizationSetting, orgId))) return false;
    if ((yield* countOrganizations()) > 0) return false;
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
    return true;
  });
  if (generated !== null && created && !exclusive) show(generated.text);
}
