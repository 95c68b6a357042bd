/** Implements OrganizationService: the caller's organization, its API keys and its secrets. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type ApiKey,
  ApiKeySchema,
  CreateApiKeyResponseSchema,
  DeleteSecretResponseSchema,
  ListApiKeysResponseSchema,
  ListSecretsResponseSchema,
  OrganizationSchema,
  type OrganizationService,
  type Secret,
  SecretSchema,
} from "../../proto/svc/v1/organization_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { invalidField, noResource } from "../errors.ts";
import { isId } from "../ids.ts";
import { createKey } from "../keys.ts";
import { secretValueProblem } from "../secrets/rules.ts";
import {
  getOrganization,
  insertKey,
  type KeyRow,
  listKeys,
  revokeKey,
} from "../store/tables/organizations.ts";
import { deleteSecret, listSecrets, putSecret, type SecretRow, secretsIn } from "../store/tables/secrets.ts";
import type { App } from "./app.ts";
import { audit } from "./audit.ts";
import { optionalTime } from "./convert.ts";
import { listPage, pageOf, rowsAfter } from "./page.ts";
import { environmentFilter } from "./request.ts";

export function organizationService(app: App): ServiceImpl<typeof OrganizationService> {
  const { engine, vault } = app;
  return {
    async getOrganization(_request, context) {
      const { orgId } = callerOf(context);
      const row = await engine.read(() => getOrganization(orgId));
      if (row === undefined) {
        throw noResource("organization", orgId, "The organization of this API key does not exist.");
      }
      return create(OrganizationSchema, {
        orgId: row.org_id,
        name: row.name,
        createdAt: timestampFromMs(row.created_at),
      });
    },

    async createApiKey(request, context) {
      const caller = callerOf(context);
      const row = newKey(caller.orgId, request.name, request.scope || "full", request.expiresAt);
      const { text, ...stored } = row;
      await engine.write(function* () {
        yield* insertKey(stored);
        yield* audit(caller, "key.created", `key '${stored.name}' (${stored.key_id}), scope ${stored.scope}`);
      });
      return create(CreateApiKeyResponseSchema, {
        key: toApiKey({ ...stored, last_used_at: null, revoked_at: null }, caller.keyId),
        token: text,
      });
    },

    async listApiKeys(request, context) {
      const { orgId, keyId } = callerOf(context);
      const page = pageOf(request, ["ListApiKeys"], 1000);
      const { entries, nextPageToken } = await listPage(page, {
        read: rowsAfter(await engine.read(() => listKeys(orgId)), newestFirst),
        keyOf: newestFirst,
        schema: ApiKeySchema,
        convert: (row) => toApiKey(row, keyId),
      });
      return create(ListApiKeysResponseSchema, { keys: entries, nextPageToken });
    },

    async revokeApiKey(request, context) {
      const caller = callerOf(context);
      const row = await engine.write(function* () {
        const revoked = isId("key", request.keyId)
          ? yield* revokeKey(caller.orgId, request.keyId, Date.now())
          : undefined;
        if (revoked !== undefined) {
          yield* audit(caller, "key.revoked", `key '${revoked.name}' (${revoked.key_id})`);
        }
        return revoked;
      });
      if (row === undefined) {
        throw noResource(
          "api_key",
          request.keyId,
          `There is no active API key '${request.keyId.slice(0, 80)}'.`,
        );
      }
      return toApiKey(row, caller.keyId);
    },

    async setSecret(request, context) {
      const caller = callerOf(context);
      const problem = secretValueProblem(request.value);
      if (problem !== null) throw invalidField("value", "WELL_FORMED", problem);
      const { name } = request;
      const environment = environmentFilter(request.environment, context);
      const row = await engine.write(function* () {
        const sealed = yield* vault.seal(caller.orgId, name, request.value, environment);
        const stored = yield* putSecret(caller.orgId, name, sealed, Date.now(), environment);
        yield* audit(caller, "secret.set", secretText(name, environment));
        return stored;
      });
      return toSecret(row);
    },

    async listSecrets(request, context) {
      const { orgId } = callerOf(context);
      const environment = environmentFilter(request.environment, context);
      const page = pageOf(request, ["ListSecrets", ...(environment === "" ? [] : [environment])], 1000);
      const rows = await engine.read(() => listSecrets(orgId));
      const { entries, nextPageToken } = await listPage(page, {
        read: rowsAfter(environment === "" ? rows : secretsIn(environment, rows), secretKey),
        keyOf: secretKey,
        schema: SecretSchema,
        convert: toSecret,
      });
      return create(ListSecretsResponseSchema, { secrets: entries, nextPageToken });
    },

    async deleteSecret(request, context) {
      const caller = callerOf(context);
      const { name } = request;
      const environment = environmentFilter(request.environment, context);
      await engine.write(function* () {
        const deleted = yield* deleteSecret(caller.orgId, name, environment);
        if (deleted === undefined) {
          throw noResource("secret", name, `There is no ${secretText(name, environment)}.`);
        }
        yield* audit(caller, "secret.removed", secretText(name, environment));
      });
      return create(DeleteSecretResponseSchema);
    },
  };
}

/** A key of the order newest first: times count down, and ties are in the descending order of the ids. */
function newestFirst({ created_at, key_id }: KeyRow): string {
  const age = String(Number.MAX_SAFE_INTEGER - created_at).padStart(16, "0");
  const id = [...key_id].map((letter) => String.fromCharCode(0x7f - letter.charCodeAt(0))).join("");
  return `${age} ${id}`;
}

type NewKey = Omit<KeyRow, "last_used_at" | "revoked_at"> & { text: string };

function newKey(
  orgId: string,
  name: string,
  scope: string,
  expiresAt: Parameters<typeof timestampMs>[0] | undefined,
): NewKey {
  const now = Date.now();
  const expires = expiresAt === undefined ? null : timestampMs(expiresAt);
  const { keyId, secretHash, text } = createKey();
  return {
    key_id: keyId,
    org_id: orgId,
    name,
    secret_hash: secretHash,
    scope,
    created_at: now,
    expires_at: expires,
    text,
  };
}

function toApiKey(row: KeyRow, callerKeyId: string): ApiKey {
  return create(ApiKeySchema, {
    keyId: row.key_id,
    name: row.name,
    scope: row.scope,
    createdAt: timestampFromMs(row.created_at),
    lastUsedAt: optionalTime(row.last_used_at),
    expiresAt: optionalTime(row.expires_at),
    revokedAt: optionalTime(row.revoked_at),
    current: row.key_id === callerKeyId,
  });
}

/** The key of the order by name. Names and environments have no space. */
function secretKey({ name, environment }: SecretRow): string {
  return environment === "" ? name : `${name} ${environment}`;
}

function secretText(name: string, environment: string): string {
  return environment === "" ? `secret '${name}'` : `secret '${name}' of ${environment}`;
}

function toSecret(row: SecretRow): Secret {
  return create(SecretSchema, {
    name: row.name,
    environment: row.environment,
    createdAt: timestampFromMs(row.created_at),
    updatedAt: timestampFromMs(row.updated_at),
  });
}
