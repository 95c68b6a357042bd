/** Stored packages and pending uploads. */
import { first, type Program, run } from "./engine.ts";

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

const INSERT_OBJECT = `INSERT INTO objects (org_id, digest, size_bytes, created_at) VALUES (?, ?, ?, ?)
ON CONFLICT (org_id, digest) DO NOTHING`;
const SELECT_OBJECT = "SELECT * FROM objects WHERE org_id = ? AND digest = ?";
const INSERT_UPLOAD = `INSERT INTO uploads (org_id, upload_id, digest, size_bytes, created_at, expires_at)
VALUES (?, ?, ?, ?, ?, ?)`;
const SELECT_UPLOAD = "SELECT * FROM uploads WHERE org_id = ? AND upload_id = ?";
const DELETE_UPLOAD = "DELETE FROM uploads WHERE org_id = ? AND upload_id = ?";

export function* getObject(orgId: string, digest: string): Program<ObjectRow | undefined> {
  return yield* first<ObjectRow>(SELECT_OBJECT, orgId, digest);
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

/** Records a verified object and deletes its upload. */
export function* finishUpload(upload: UploadRow, nowMs: number): Program<void> {
  yield* run(INSERT_OBJECT, upload.org_id, upload.digest, upload.size_bytes, nowMs);
  yield* run(DELETE_UPLOAD, upload.org_id, upload.upload_id);
}
