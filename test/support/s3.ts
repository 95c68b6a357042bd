/**
 * An S3 endpoint for tests: a server from npm that checks signatures, or the bucket of SVC_TEST_STORAGE_URL with the
 * credentials of the AWS variables. Each use has its own prefix.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseStorageUrl, type S3Config } from "../../server/config/storage-url.ts";
import { askEndpoint } from "./endpoints.ts";

export interface S3Endpoint {
  /** A value of SVC_STORAGE_URL without `endpoint`. */
  url: string;
  /** Origin. */
  endpoint: string;
  /** The AWS variables. */
  env: Record<string, string>;
  close(): Promise<void>;
}

interface S3rver {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

interface S3rverOptions {
  address: string;
  port: number;
  silent: boolean;
  directory: string;
  /** Buckets are then `<bucket>.s3.<serviceEndpoint>`. */
  serviceEndpoint: string;
  configureBuckets: readonly { name: string }[];
}

/** The only account of the server from npm. */
const credentials = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" };

export const bucket = "packages-of-tests";

export async function startS3(): Promise<S3Endpoint> {
  const given = process.env.SVC_TEST_STORAGE_URL;
  if (given !== undefined) return fromEnvironment(given);
  const directory = mkdtempSync(join(tmpdir(), "svc-s3-"));
  const Server = createRequire(import.meta.url)("@20minutes/s3rver") as new (
    options: S3rverOptions,
  ) => S3rver;
  const server = new Server({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    serviceEndpoint: "localhost",
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await server.run();
  return {
    url: `s3://${bucket}/${randomUUID()}?region=us-east-1`,
    endpoint: `http://127.0.0.1:${port}`,
    env: { ...credentials },
    async close() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

let shared: Promise<S3Endpoint> | null = null;

/** The variables of a server that keeps its packages in the S3 endpoint of this run. Servers of one data folder share them. */
export async function storageEnv(dataDir: string): Promise<Record<string, string>> {
  shared ??= askEndpoint("s3").then((text) => JSON.parse(text) as S3Endpoint);
  const s3 = await shared;
  const folder = createHash("sha256").update(dataDir).digest("hex").slice(0, 32);
  return { ...s3.env, SVC_STORAGE_URL: urlOf({ ...s3, url: s3.url.replace("?", `/${folder}?`) }) };
}

/** The configuration for an endpoint, which may be a proxy in front of the real one. */
export function configOf(s3: S3Endpoint, endpoint: string = s3.endpoint): S3Config {
  return parseStorageUrl(urlOf(s3, endpoint), s3.env);
}

/** The value of SVC_STORAGE_URL. */
export function urlOf(s3: S3Endpoint, endpoint: string = s3.endpoint): string {
  return `${s3.url}&endpoint=${encodeURIComponent(endpoint)}`;
}

function fromEnvironment(given: string): S3Endpoint {
  const names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"];
  const env = Object.fromEntries(
    names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const config = parseStorageUrl(given, env);
  const query = new URLSearchParams({ region: config.region, path_style: String(config.pathStyle) });
  return {
    url: `s3://${config.bucket}/${config.prefix}${randomUUID()}?${query}`,
    endpoint: config.endpoint,
    env,
    close: async () => {},
  };
}
