/** Uploads of packages: where a client sends one, and the confirmation of one that it sent to another server. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type CreateUploadRequest,
  type CreateUploadResponse,
  CreateUploadResponseSchema,
} from "../../../proto/svc/v1/deployment_pb.ts";
import { fail, wrongState } from "../../errors.ts";
import { orderedId } from "../../ids.ts";
import { ContentMismatch, type ObjectKey } from "../../storage/contract.ts";
import {
  getObject,
  insertObject,
  insertUpload,
  isObjectBeingDeleted,
  listUploadsOf,
  type ObjectRow,
  toUpload,
  type UploadRow,
} from "../../store/tables/objects.ts";
import type { App } from "../app.ts";

const uploadMs = 3_600_000;
/** A client that retries creates an upload each time. Older ones are not considered. */
const maxUploads = 8;

export async function createUpload(
  app: App,
  orgId: string,
  request: CreateUploadRequest,
): Promise<CreateUploadResponse> {
  const { engine, storage, config } = app;
  const { digest } = request;
  const sizeBytes = Number(request.sizeBytes);
  if (sizeBytes > config.limits.packageBytes) {
    throw fail(
      "PACKAGE_TOO_LARGE",
      `Cannot store a package of ${sizeBytes} bytes: it must have 1 to ${config.limits.packageBytes} (SVC_MAX_PACKAGE_BYTES).`,
      { metadata: { limit_bytes: String(config.limits.packageBytes) } },
    );
  }
  const now = Date.now();
  const row: UploadRow = {
    org_id: orgId,
    upload_id: orderedId("upl", now),
    digest,
    size_bytes: sizeBytes,
    created_at: now,
    expires_at: now + uploadMs,
  };
  const alreadyStored = await engine.write(function* () {
    const object = yield* getObject(orgId, digest);
    if (object === undefined) yield* insertUpload(row);
    return object !== undefined;
  });
  const parts = alreadyStored
    ? []
    : await storage.signUpload(toUpload(row), request.acceptsParts, app.baseUrl());
  return create(CreateUploadResponseSchema, {
    uploadId: row.upload_id,
    url: parts.length === 1 ? (parts[0]?.url ?? "") : "",
    parts: parts.length === 1 ? [] : parts.map((part) => ({ ...part, sizeBytes: BigInt(part.sizeBytes) })),
    expiresAt: timestampFromMs(row.expires_at),
    alreadyStored,
  });
}

/**
 * The stored package. A staged upload of it is verified and stored first.
 * @throws ConnectError when there is none, or the uploaded content differs from the announced package
 */
export async function requireObject(app: App, { orgId, digest }: ObjectKey): Promise<ObjectRow> {
  const { engine } = app;
  const stored = await engine.read(() => getObject(orgId, digest));
  const object = stored ?? (await confirmUpload(app, { orgId, digest }));
  if (object !== undefined) return object;
  throw wrongState(
    "PACKAGE_NOT_STORED",
    "package",
    digest,
    `Cannot deploy ${digest}: the package is not stored; upload it first.`,
  );
}

/**
 * Called before a package is put into the storage: an object that is put during a deletion would be deleted too. A
 * deletion cannot begin meanwhile, because it takes a package that has been stored for a day.
 */
export async function checkNoDeletion(app: App, { orgId, digest }: ObjectKey): Promise<void> {
  if (!(await app.engine.read(() => isObjectBeingDeleted(orgId, digest)))) return;
  throw fail(
    "UNAVAILABLE",
    "Cannot store the package: the unused copy of it is being deleted; try again in a minute.",
    { headers: { "retry-after": "5" } },
  );
}

async function confirmUpload(app: App, { orgId, digest }: ObjectKey): Promise<ObjectRow | undefined> {
  const { staging } = app.storage;
  if (staging === undefined) return undefined;
  await checkNoDeletion(app, { orgId, digest });
  let mismatch: ContentMismatch | null = null;
  for (const upload of await app.engine.read(() => listUploadsOf(orgId, digest, maxUploads))) {
    try {
      if (!(await staging.confirm(toUpload(upload)))) continue;
      // The row of the upload remains for the housekeeper, because its URLs are still valid.
      await app.engine.write(() => insertObject(upload, Date.now()));
      return await app.engine.read(() => getObject(orgId, digest));
    } catch (error) {
      if (!(error instanceof ContentMismatch)) throw error;
      mismatch ??= error;
    }
  }
  if (mismatch !== null) throw fail("UPLOAD_MISMATCH", mismatch.message);
  return undefined;
}
