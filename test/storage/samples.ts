/** Packages for the tests of the storage. It looks at their compression and digest only, so that they need no files. */
import { createHash, randomBytes } from "node:crypto";
import { constants, gzipSync } from "node:zlib";
import type { Upload } from "../../server/storage/contract.ts";
import type { StorageLimits } from "../../server/storage/receive.ts";

export const limits: StorageLimits = { packageBytes: 50 * 2 ** 20, unpackedBytes: 250 * 2 ** 20 };
export const orgId: string = `org_${"s".repeat(26)}`;

export interface Sample {
  bytes: Uint8Array<ArrayBuffer>;
  digest: string;
  key: { orgId: string; digest: string };
}

/** Random content that compression does not make smaller. */
export function sample(contentBytes: number): Sample {
  const content = randomBytes(contentBytes);
  const bytes = new Uint8Array(gzipSync(content, { level: constants.Z_NO_COMPRESSION }));
  const digest = createHash("sha256").update(content).digest("hex");
  return { bytes, digest, key: { orgId, digest } };
}

let uploads = 0;

export function uploadOf({ bytes, digest }: Sample, lifetimeMs = 60_000): Upload {
  uploads += 1;
  const uploadId = `upl_${String(uploads).padStart(26, "0")}`;
  return { orgId, digest, uploadId, sizeBytes: bytes.length, expiresAtMs: Date.now() + lifetimeMs };
}

/** A body in pieces of 64 KiB. */
export async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

export async function read(object: { content: AsyncIterable<Uint8Array> } | null): Promise<Buffer | null> {
  return object === null ? null : Buffer.concat(await Array.fromAsync(object.content));
}

/** The request of a client. */
export function put(
  url: string,
  body: Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, { method: "PUT", body, headers: { "content-type": "application/gzip", ...headers } });
}
