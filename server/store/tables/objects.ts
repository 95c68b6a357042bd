/** Stored packages and pending uploads. */
import type { Upload } from "../../storage/contract.ts";
import { all, first, type Program, run } from "../engine.ts";

export interface ObjectRow {
  org_id: string;
  digest: string;
  size_bytes: number;
  created_at: number;
}

export interface UploadRow {
  org_id: string;
  upload_id: string;
  digest: string;
  size_bytes: number;
  created_at: number;
  expires_at: number;
}

const INSERT_OBJECT = `INSERT INTO objects (org_id, digest, size_bytes, created_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (org_id, digest) DO NOTHING`;
const SELECT_OBJECT = "SELECT * FROM objects WHERE org_id = ?1 AND digest = ?2 AND deleting_at IS NULL";
const SELECT_DELETING =
  "SELECT digest FROM objects WHERE org_id = ?1 AND digest = ?2 AND deleting_at IS NOT NULL";
/** The new time postpones the deletion of an unused package, and the update excludes a concurrent one. */
const KEEP_OBJECT = `UPDATE objects SET created_at = ?3 WHERE org_id = ?1 AND digest = ?2 AND deleting_at IS NULL
RETURNING size_bytes`;
const INSERT_UPLOAD = `INSERT INTO uploads (org_id, upload_id, digest, size_bytes, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)`;
const SELECT_UPLOAD = "SELECT * FROM uploads WHERE org_id = ?1 AND upload_id = ?2";
const SELECT_UPLOADS_OF = `SELECT * FROM uploads WHERE org_id = ?1 AND digest = ?2
ORDER BY upload_id DESC LIMIT ?3`;
const SELECT_EXPIRED_UPLOADS = "SELECT * FROM uploads WHERE expires_at < ?1 LIMIT ?2";
const DELETE_UPLOAD = "DELETE FROM uploads WHERE org_id = ?1 AND upload_id = ?2";

/** A stored package. Undefined while it is being deleted. */
export function* getObject(orgId: string, digest: string): Program<ObjectRow | undefined> {
  return yield* first<ObjectRow>(SELECT_OBJECT, orgId, digest);
}

/** Whether the housekeeper is deleting a package. It cannot be stored again before that has ended. */
export function* isObjectBeingDeleted(orgId: string, digest: string): Program<boolean> {
  return (yield* first(SELECT_DELETING, orgId, digest)) !== undefined;
}

/** Keeps a package for at least a day. @returns false when it is not stored */
export function* keepObject(orgId: string, digest: string, nowMs: number): Program<boolean> {
  return (yield* first(KEEP_OBJECT, orgId, digest, nowMs)) !== undefined;
}

export function* insertUpload(row: UploadRow): Program<void> {
  yield* run(
    INSERT_UPLOAD,
    row.org_id,
    row.upload_id,
    row.digest,
    row.size_bytes,
    row.created_at,
    row.expires_at,
  );
}

export function* getUpload(orgId: string, uploadId: string): Program<UploadRow | undefined> {
  return yield* first<UploadRow>(SELECT_UPLOAD, orgId, uploadId);
}

/** The newest uploads of a package. */
export function* listUploadsOf(orgId: string, digest: string, limit: number): Program<UploadRow[]> {
  return yield* all<UploadRow>(SELECT_UPLOADS_OF, orgId, digest, limit);
}

export function* listExpiredUploads(beforeMs: number, limit: number): Program<UploadRow[]> {
  return yield* all<UploadRow>(SELECT_EXPIRED_UPLOADS, beforeMs, limit);
}

export function* deleteUpload(orgId: string, uploadId: string): Program<void> {
  yield* run(DELETE_UPLOAD, orgId, uploadId);
}

/** Records a verified object. */
export function* insertObject(upload: UploadRow, nowMs: number): Program<void> {
  yield* run(INSERT_OBJECT, upload.org_id, upload.digest, upload.size_bytes, nowMs);
}

/** Records a verified object and deletes its upload. */
export function* finishUpload(upload: UploadRow, nowMs: number): Program<void> {
  yield* insertObject(upload, nowMs);
  yield* deleteUpload(upload.org_id, upload.upload_id);
}

/** An upload as the storage knows it. */
export function toUpload({ org_id, upload_id, digest, size_bytes, expires_at }: UploadRow): Upload {
  return { orgId: org_id, uploadId: upload_id, digest, sizeBytes: size_bytes, expiresAtMs: expires_at };
}
