/**
 * The value of SVC_STORAGE_URL: `s3://bucket/prefix?endpoint=…&region=…&path_style=true`. The credentials come from the
 * standard variables of S3 clients and are never part of an error message.
 */

export interface S3Config {
  bucket: string;
  /** Precedes the key of every object. Empty, or with a `/` at its end. */
  prefix: string;
  /** Origin of the endpoint, for example `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string;
  /** Origin of the endpoint in presigned URLs, where clients reach it by another address. */
  publicEndpoint: string;
  region: string;
  /** Whether the bucket is the first segment of the path instead of part of the host name. */
  pathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
  /** For temporary credentials. */
  sessionToken: string | null;
}

type Environment = Record<string, string | undefined>;

const options = new Set(["endpoint", "public_endpoint", "region", "path_style"]);

/** @throws Error that names the rule, and the value unless it may hold credentials */
export function parseStorageUrl(value: string, env: Environment): S3Config {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url?.username || url?.password) {
    throw wrong("it must not contain credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead");
  }
  if (url === null || url.protocol !== "s3:" || url.port !== "" || url.hash !== "") {
    throw wrong(`it must be s3://bucket/prefix?endpoint=…&region=…, not '${value}'`);
  }
  const bucket = url.hostname;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw wrong(`the bucket must have 3 to 63 of 'a-z 0-9 . -', not '${bucket}'`);
  }
  const path = url.pathname.replace(/^\/|\/$/g, "");
  if (!/^(?:[\w-][\w.-]*(?:\/[\w-][\w.-]*)*)?$/.test(path)) {
    throw wrong(`the prefix must have segments of 'A-Z a-z 0-9 _ . -', not '${path}'`);
  }
  const unknown = [...url.searchParams.keys()].find((name) => !options.has(name));
  if (unknown !== undefined)
    throw wrong(`'${unknown}' is not one of its options, ${[...options].join(", ")}`);
  const given = url.searchParams.get("endpoint");
  const region = url.searchParams.get("region") || env.AWS_REGION;
  if (!region) throw wrong("the region is missing; add region=… or set AWS_REGION");
  const endpoint = origin("endpoint", given || `https://s3.${region}.amazonaws.com`);
  const pathStyle = pathStyleOf(url.searchParams.get("path_style"), given !== null);
  const publicEndpoint = origin("public_endpoint", url.searchParams.get("public_endpoint") || endpoint);
  const address = [endpoint, publicEndpoint].find(isAddress);
  if (!pathStyle && address !== undefined) {
    throw wrong(`path_style=false requires an endpoint with a host name, not '${address}'`);
  }
  return {
    bucket,
    prefix: path === "" ? "" : `${path}/`,
    endpoint,
    publicEndpoint,
    region,
    pathStyle,
    accessKeyId: credential(env, "AWS_ACCESS_KEY_ID"),
    secretAccessKey: credential(env, "AWS_SECRET_ACCESS_KEY"),
    sessionToken: env.AWS_SESSION_TOKEN || null,
  };
}

/** In words, for example `s3://packages/team at http://127.0.0.1:9000`. */
export function describeStorage({ bucket, prefix, endpoint }: S3Config): string {
  return `s3://${bucket}/${prefix} at ${endpoint}`;
}

function origin(option: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  const isOrigin = url !== null && url.pathname === "/" && !url.search && !url.hash && !url.username;
  if (url === null || !isOrigin || !/^https?:$/.test(url.protocol)) {
    throw wrong(`${option} must be an http or https URL without a path, not '${value}'`);
  }
  return url.origin;
}

/** Servers other than AWS's rarely have a host name for each bucket, so that an endpoint implies path-style addressing. */
function pathStyleOf(value: string | null, hasEndpoint: boolean): boolean {
  if (value === null) return hasEndpoint;
  if (value !== "true" && value !== "false") throw wrong(`path_style must be true or false, not '${value}'`);
  return value === "true";
}

function isAddress(endpoint: string): boolean {
  return /^\[|^[\d.]+$/.test(new URL(endpoint).hostname);
}

function credential(env: Environment, variable: string): string {
  const value = env[variable];
  if (!value) throw wrong(`its credentials are incomplete: ${variable} is not set`);
  return value;
}

function wrong(reason: string): Error {
  return new Error(`Cannot use SVC_STORAGE_URL: ${reason}.`);
}
