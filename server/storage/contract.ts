/**
 * Object storage: packages by organization and digest.
 *
 * An object is stored complete and verified, or not at all. Every driver issues signed URLs, so that clients upload and
 * download packages directly.
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

export interface ObjectStorage {
  /**
   * Stores a gzip-compressed package.
   *
   * @param sizeBytes - its size, compressed
   * @throws ContentMismatch when the content has another size or digest, or is not gzip; nothing is stored then
   */
  put(key: ObjectKey, sizeBytes: number, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** The compressed package, or null when the object does not exist. */
  get(key: ObjectKey): Promise<{ sizeBytes: number; content: Readable } | null>;
  /** Deletes an object. Succeeds when the object does not exist. */
  delete(key: ObjectKey): Promise<void>;
  /** A URL that permits one method on one object until it expires. URLs of this service start with `baseUrl`. */
  signUrl(method: "GET" | "PUT", key: ObjectKey, expiresAtMs: number, baseUrl: string, name: string): string;
  /** @throws Error with the reason when the storage is not writable */
  check(): Promise<void>;
  /**
   * The request that a signed URL of this service permits; null when the signature is invalid. Absent in drivers whose
   * URLs lead to another server.
   */
  verifyUrl?(method: string, path: string, query: URLSearchParams): SignedRequest | null;
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
