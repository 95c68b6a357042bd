import type { S3Config } from "../../config/storage-url.ts";

/** The URL of an object, without a signature. `key` has no characters that a URL encodes. */
export function objectUrl(
  { bucket, prefix, pathStyle }: S3Config,
  endpoint: string,
  key: string,
  query: Record<string, string> = {},
): URL {
  const url = new URL(endpoint);
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
  url.pathname = `${pathStyle ? `/${bucket}` : ""}/${prefix}${key}`;
  url.search = new URLSearchParams(query).toString();
  return url;
}
