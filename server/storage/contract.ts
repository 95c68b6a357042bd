/**
 * Object storage: packages by organization and digest.
 *
 * An object is stored complete and verified, or not at all. Every driver issues signed URLs, so that clients upload and
 * download packages directly.
 *
 * Glossary: an *upload* is a package that a client announced. A *part* is a range of its bytes with a URL of its own. An
 * upload is *staged* when its parts are stored, but not yet verified under its digest. Only drivers whose URLs lead to
 * another server stage uploads.
 */
import type { Readable } from "node:stream";

export interface ObjectKey {
  orgId: string;
  /**
   * SHA-256 of the uncompressed package, 64 lower-case hexadecimal digits. For objects stored by version 0.1: of the
   * compressed package.
   */
  digest: string;
}

export interface Upload extends ObjectKey {
  uploadId: string;
  /** Of the compressed package. */
  sizeBytes: number;
  /** When its URLs expire. */
  expiresAtMs: number;
}

export interface UploadPart {
  /** For one PUT of exactly `sizeBytes` bytes with `Content-Type: application/gzip`. */
  url: string;
  sizeBytes: number;
}

export interface ObjectStorage {
  /** Whether objects come from another server. Readers then check the content against the digest. */
  readonly isRemote: boolean;
  /**
   * Stores a gzip-compressed package.
   *
   * @param sizeBytes - its size, compressed
   * @throws ContentMismatch when the content has another size or digest, or is not gzip; nothing is stored then
   */
  put(key: ObjectKey, sizeBytes: number, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** The compressed package, or null when the object does not exist. */
  get(key: ObjectKey): Promise<{ sizeBytes: number; content: Readable } | null>;
  /** The size of the compressed package in bytes, or null when the object does not exist. */
  sizeOf(key: ObjectKey): Promise<number | null>;
  /** Deletes an object. Succeeds when the object does not exist. */
  delete(key: ObjectKey): Promise<void>;
  /**
   * The parts of an upload, in order: one, unless the client accepts several and the package is large.
   * @param baseUrl - start of the URLs that lead to this service
   */
  signUpload(upload: Upload, acceptsParts: boolean, baseUrl: string): Promise<UploadPart[]>;
  /** A URL that permits a GET of an object until it expires. */
  signDownload(key: ObjectKey, expiresAtMs: number, baseUrl: string, fileName: string): Promise<string>;
  /** @throws Error with the reason when the storage is not writable */
  check(): Promise<void>;
  /** Present in drivers whose URLs lead to another server. */
  readonly staging?: Staging;
  /**
   * The request that a signed URL of this service permits; null when the signature is invalid. Absent in drivers whose
   * URLs lead to another server.
   */
  verifyUrl?(method: string, path: string, query: URLSearchParams): SignedRequest | null;
}

/** Uploads that clients have sent to another server. Both operations may be repeated. */
export interface Staging {
  /**
   * Verifies a staged upload and stores it under its digest.
   *
   * @returns false when one of its parts is missing
   * @throws ContentMismatch when the content has another size or digest, or is not gzip; nothing is stored then
   */
  confirm(upload: Upload): Promise<boolean>;
  /** Removes the parts of an upload. */
  discard(upload: Upload): Promise<void>;
}

/** The request that a signed URL permits. */
export interface SignedRequest {
  method: "GET" | "PUT";
  key: ObjectKey;
  /** For a PUT the upload's id, for a GET the file name of the download. */
  name: string;
  /** The caller must check it. */
  expiresAtMs: number;
}

/** The uploaded content differs from what the client announced. */
export class ContentMismatch extends Error {
  override readonly name: string = "ContentMismatch";
}
