/**
 * `svc admin`: what is done beside the store, with the server running or not. It needs no API key: who can write the data
 * folder is the operator.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isId, randomId } from "./ids.ts";
import { createKey, isScope, scopes } from "./keys.ts";
import type { Engine } from "./store/engine.ts";
import {
  getOrganization,
  insertKey,
  insertOrganization,
  listOrganizations,
  type OrganizationRow,
} from "./store/organizations.ts";
import { openSqlite } from "./store/sqlite.ts";

export interface NewKey {
  keyId: string;
  /** The key itself: shown once, kept nowhere. */
  token: string;
  name: string;
  scope: string;
  expiresAtMs: number | null;
}

export interface Admin {
  listOrganizations(): Promise<OrganizationRow[]>;
  /** @throws Error when the name is empty or over 100 characters. */
  createOrganization(name: string): Promise<{ organization: OrganizationRow; key: NewKey }>;
  /** @throws Error when there is no such organization, or an option is not of its form. */
  createKey(
    orgId: string,
    options: { name: string; scope: string; expiresAtMs: number | null },
  ): Promise<NewKey>;
  close(): Promise<void>;
}

const maxName = 100;

/** @throws Error when the folder holds no store. */
export function openAdmin(dataDir: string): Admin {
  if (!existsSync(join(dataDir, "svc.db"))) {
    throw new Error(
      `Cannot open the store: there is none in ${dataDir}; name the server's data folder with --data.`,
    );
  }
  const engine = openSqlite(dataDir);
  return {
    listOrganizations: () => engine.read(listOrganizations),

    async createOrganization(name) {
      checkName("organization", name);
      const organization = { org_id: randomId("org"), name, created_at: Date.now() };
      await engine.write(() => insertOrganization(organization));
      const key = await addKey(engine, organization.org_id, {
        name: "first key",
        scope: "full",
        expiresAtMs: null,
      });
      return { organization, key };
    },

    async createKey(orgId, options) {
      const organization = isId("org", orgId) ? await engine.read(() => getOrganization(orgId)) : undefined;
      if (organization === undefined) throw new Error(`There is no organization '${orgId.slice(0, 80)}'.`);
      return addKey(engine, orgId, options);
    },

    close: () => engine.close(),
  };
}

async function addKey(
  engine: Engine,
  orgId: string,
  { name, scope, expiresAtMs }: { name: string; scope: string; expiresAtMs: number | null },
): Promise<NewKey> {
  checkName("key", name);
  if (!isScope(scope)) {
    throw new Error(`Cannot create a key with scope '${scope}': it must be one of ${scopes.join(", ")}.`);
  }
  const { keyId, secretHash, text } = createKey();
  await engine.write(() =>
    insertKey({
      key_id: keyId,
      org_id: orgId,
      name,
      secret_hash: secretHash,
      scope,
      created_at: Date.now(),
      expires_at: expiresAtMs,
    }),
  );
  return { keyId, token: text, name, scope, expiresAtMs };
}

function checkName(what: string, name: string): void {
  if (name.trim() === "" || [...name].length > maxName) {
    throw new Error(`Cannot create the ${what}: its name must have 1 to ${maxName} characters.`);
  }
}
