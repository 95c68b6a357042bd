/** Signs requests with AWS Signature Version 4. */
import { createHash } from "node:crypto";
import type { S3Config } from "../../config/storage-url.ts";
import { objectUrl } from "./address.ts";

export interface UnsignedRequest {
  method: "GET" | "PUT" | "POST" | "DELETE";
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
}

/** Loaded at the first request: most servers store packages in the file system. */
const load = () => import("aws4fetch");

/** S3 accepts presigned URLs for at most seven days. */
const maxExpirySeconds = 604_800;

/** Signs a request of the server. The signature covers the SHA-256 of the body, which S3 checks. */
export async function signRequest(
  config: S3Config,
  { method, key, query, headers, body }: UnsignedRequest,
): Promise<{ url: URL; headers: Headers }> {
  const { AwsV4Signer } = await load();
  const sha256 = createHash("sha256")
    .update(body ?? "")
    .digest("hex");
  const signer = new AwsV4Signer({
    ...credentialsOf(config),
    method,
    url: objectUrl(config, config.endpoint, key, query).href,
    headers: { ...headers, "x-amz-content-sha256": sha256 },
  });
  const signed = await signer.sign();
  return { url: signed.url, headers: signed.headers };
}

/** A URL for one request of a client, which must send exactly these headers. */
export async function presign(
  config: S3Config,
  { method, key, query, headers }: UnsignedRequest,
  expiresAtMs: number,
): Promise<string> {
  const { AwsV4Signer } = await load();
  const seconds = Math.min(Math.max(Math.ceil((expiresAtMs - Date.now()) / 1000), 1), maxExpirySeconds);
  const url = objectUrl(config, config.publicEndpoint, key, { ...query, "X-Amz-Expires": String(seconds) });
  const signer = new AwsV4Signer({
    ...credentialsOf(config),
    method,
    url: url.href,
    ...(headers === undefined ? {} : { headers }),
    signQuery: true,
    // By default Content-Length and Content-Type are not signed.
    allHeaders: true,
  });
  return (await signer.sign()).url.href;
}

function credentialsOf({ accessKeyId, secretAccessKey, sessionToken, region }: S3Config) {
  return {
    service: "s3",
    region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === null ? {} : { sessionToken }),
  };
}
