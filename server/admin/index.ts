/**
 * Implements `svc admin`, which works on the store directly while the server runs or not. It needs no API key: the operator
 * is the one who can write to the data folder or to the database.
 */
import { isId, randomId } from "../ids.ts";
import { createKey, isScope, scopes } from "../keys.ts";
import { type Rotation, rotateMasterKey } from "../secrets/rotate.ts";
import { auditOperator } from "../services/audit.ts";
import { first } from "../store/engine.ts";
import { deleteAllSecrets } from "../store/tables/master-key-check.ts";
import {
  getOrganization,
  insertKey,
  insertOrganization,
  listOrganizations,
  type OrganizationRow,
} from "../store/tables/organizations.ts";
import { getSetting, isolationSetting } from "../store/tables/settings.ts";
import { type StoreStatistics, storeStatistics } from "../store/tables/statistics.ts";
import { openAdminStore, type StoreLocation } from "./store.ts";

export interface NewKey {
  keyId: string;
  /** The key itself, `svc_<id>_<secret>`. It is not stored. */
  token: string;
  name: string;
  scope: string;
  expiresAtMs: number | null;
}

export interface Admin {
  listOrganizations(): Promise<OrganizationRow[]>;
  /** @throws Error if the name is empty or has more than 100 characters, or a running server must not have several */
  createOrganization(name: string): Promise<{ organization: OrganizationRow; key: NewKey }>;
  /** @throws Error if the organization does not exist or an option is invalid */
  createKey(
    orgId: string,
    options: { name: string; scope: string; expiresAtMs: number | null },
  ): Promise<NewKey>;
  /**
   * Deletes the secrets of all organizations and the check value of the master key.
   * @throws Error if a server uses the store
   */
  resetSecrets(): Promise<{ org_id: string; name: string }[]>;
  /**
   * Replaces the master key, while servers run or not.
   * @throws Error if the key is missing or wrong
   */
  rotateMasterKey(keys: { variable: string | undefined; previous: string | undefined }): Promise<Rotation>;
  /** Reads whole tables, and every page of an embedded store. */
  statistics(): Promise<StoreStatistics>;
  /** The version of the schema, which is the newest one: an older store was migrated when it was opened. */
  schemaVersion(): Promise<number>;
  close(): Promise<void>;
}

const maxName = 100;

/** @throws Error if the data folder contains no store, or the database cannot be reached */
export async function openAdmin(location: StoreLocation): Promise<Admin> {
  const store = await openAdminStore(location);
  const { engine } = store;
  return {
    listOrganizations: () => engine.read(listOrganizations),

    async createOrganization(name) {
      checkName("organization", name);
      const organization = { org_id: randomId("org"), name, created_at: Date.now() };
      const key = newKey(organization.org_id, { name: "first key", scope: "full", expiresAtMs: null });
      if ((await store.isServing()) && (await engine.read(() => getSetting(isolationSetting))) === "one") {
        throw new Error(
          "Cannot add an organization: the boundary around the running server's runners does not stop malicious code. Restart it with SVC_RUNNER=deno or bubblewrap, or with SVC_ALLOW_UNSANDBOXED=1.",
        );
      }
      await engine.write(function* () {
        yield* insertOrganization(organization);
        yield* insertKey(key.row);
      });
      return { organization, key: key.shown };
    },

    async createKey(orgId, options) {
      const organization = isId("org", orgId) ? await engine.read(() => getOrganization(orgId)) : undefined;
      if (organization === undefined) throw new Error(`There is no organization '${orgId.slice(0, 80)}'.`);
      const key = newKey(orgId, options);
      const { key_id, name, scope } = key.row;
      await engine.write(function* () {
        yield* insertKey(key.row);
        yield* auditOperator(orgId, "key.created", `key '${name}' (${key_id}), scope ${scope}`);
      });
      return key.shown;
    },

    // A running server would seal further secrets with the former key.
    resetSecrets: () => store.exclusively(() => engine.write(deleteAllSecrets)),

    rotateMasterKey: (keys) => rotateMasterKey(engine, { ...keys, dataDir: location.dataDir }),

    statistics: () => engine.read(() => storeStatistics(Date.now())),

    async schemaVersion() {
      const sql = "SELECT MAX(version) AS version FROM migrations";
      return (await engine.read(() => first<{ version: number }>(sql)))?.version ?? 0;
    },

    close: () => engine.close(),
  };
}

function newKey(
  orgId: string,
  { name, scope, expiresAtMs }: { name: string; scope: string; expiresAtMs: number | null },
): { row: Parameters<typeof insertKey>[0]; shown: NewKey } {
  checkName("key", name);
  if (!isScope(scope)) {
    throw new Error(`Cannot create a key with scope '${scope}': it must be one of ${scopes.join(", ")}.`);
  }
  const { keyId, secretHash, text } = createKey();
  return {
    row: {
      key_id: keyId,
      org_id: orgId,
      name,
      secret_hash: secretHash,
      scope,
      created_at: Date.now(),
      expires_at: expiresAtMs,
    },
    shown: { keyId, token: text, name, scope, expiresAtMs },
  };
}

function checkName(object: string, name: string): void {
  if (name.trim() === "" || [...name].length > maxName) {
    throw new Error(`Cannot create the ${object}: its name must have 1 to ${maxName} characters.`);
  }
}
