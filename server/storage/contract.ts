/**
 * Object storage: packages by organization and digest.
 *
 * An object is written once, whole and checked, or not at all. Both drivers, file system and S3, hand out signed URLs, so
 * that a package goes straight to where it is stored.
 */
import type { Readable } from "node:stream";

export interface ObjectKey {
  orgId: string;
  /** SHA-256 of the content, 64 lower-case hexadecimal digits. */
  digest: string;
}

export interface ObjectStorage {
  /**
   * Stores an object.
   * @throws ContentMismatch when the content has not the digest or size; nothing is kept then.
   */
  put(key: ObjectKey, sizeBytes: number, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** The content, or null when there is no such object. */
  get(key: ObjectKey): Promise<{ sizeBytes: number; content: Readable } | null>;
  /** Removes an object; does nothing when there is none. */
  delete(key: ObjectKey): Promise<void>;
  /** A URL that allows one method on one object until a time, under the base URL of the service. */
  signUrl(method: "GET" | "PUT", key: ObjectKey, expiresAtMs: number, baseUrl: string, name: string): string;
  /** @throws Error that says what is wrong, when objects can't be stored now. */
  check(): Promise<void>;
  /**
   * What a request for a URL of `signUrl` under the service's own base URL asks for; null when this storage has not signed
   * it. Absent when the URLs lead elsewhere.
   */
  verifyUrl?(method: string, path: string, query: URLSearchParams): SignedRequest | null;
}

/** What a signed URL allows. */
export interface SignedRequest {
  method: "GET" | "PUT";
  key: ObjectKey;
  /** The upload's id for a PUT, the file name to save as for a GET. */
  name: string;
  /** May have passed. */
  expiresAtMs: number;
}

/** What arrived is not what was announced. */
export class ContentMismatch extends Error {
  override readonly name: string = "ContentMismatch";
}
