/**
 * The configuration of the server: the options of `svc serve`, each of which is also an environment variable, and the
 * limits. An invalid value stops the start with a message that names the variable, the rule and the value.
 */
import { resolve } from "node:path";
import { checkDatabaseUrl } from "./database-url.ts";
import { parseRunnerNetwork, type RunnerNetwork } from "./runner-network.ts";
import type { RuntimeName } from "./runtime.ts";
import { parseTrustedProxies } from "./senders/trusted-proxies.ts";
import { parseStorageUrl, type S3Config } from "./storage-url.ts";
import { type LogFormat, type LogLevel, logFormats, logLevels } from "./telemetry/log/index.ts";
import { type TracingSettings, tracingSettings } from "./telemetry/tracing/settings.ts";

export interface Limits {
  /** Bytes of a request body. */
  webhookBytes: number;
  /** Levels of nesting of a JSON input or output. */
  jsonDepth: number;
  /** Bytes of a compressed package. */
  packageBytes: number;
  /** Bytes of an unpacked package. */
  unpackedBytes: number;
  /** Files in a package. */
  packageFiles: number;
  /** Bytes of unpacked packages that this server keeps on its disk. */
  packageCacheBytes: number;
  /** Bytes of an execution's output, as JSON. */
  outputBytes: number;
  /** Bytes of one log line. */
  logLineBytes: number;
  /** Log lines of one execution. */
  logLines: number;
  /** Bytes of memory that the code in one runner may use. */
  runnerMemoryBytes: number;
  /** Concurrent executions of this server, over all organizations. */
  concurrency: number;
  /** Concurrent executions in one runner. */
  executionsPerRunner: number;
  /** Concurrent runners of one deployment. */
  runnersPerDeployment: number;
  /** Days for which a finished execution and its log are kept. */
  retentionDays: number;
  /** Finished executions that are kept of each agent and workflow in each environment; 0 keeps all until they expire. */
  retentionCount: number;
  /** Open connections of this server. */
  connections: number;
  /** Open connections from one address; for IPv6 from one /64 network. */
  connectionsPerAddress: number;
  /** A connection without a request in progress closes after this time. */
  idleSeconds: number;
  /** An HTTP/2 client with open streams must acknowledge a PING within this time. */
  keepAliveSeconds: number;
  /** Requests per second and burst of each webhook. */
  webhookRate: number;
  webhookBurst: number;
  /** Requests per second and burst of all webhooks of an organization. */
  organizationRate: number;
  organizationBurst: number;
}

/** What a process does: `api` accepts requests, `worker` runs executions and schedules, `all` does both. */
export type Role = "all" | "api" | "worker";
const roles: readonly Role[] = ["all", "api", "worker"];

export interface Config {
  host: string;
  /** 0 picks a free port. */
  port: number;
  dataDir: string;
  role: Role;
  /** PostgreSQL; null keeps the store in the data folder. */
  database: DatabaseConfig | null;
  /** The URL that clients use, without a trailing slash; null means the address that the server listens on. */
  publicUrl: string | null;
  /** Further names by which clients may address a server that listens on loopback, without a port. */
  allowedHosts: string[];
  /** Addresses and CIDR ranges of the proxies whose `Forwarded` and `X-Forwarded-For` count. */
  trustedProxies: string[];
  /** Origins of web pages whose scripts may call the service; `*` is every origin. */
  corsOrigins: string[];
  /** The first API key, registered in an empty store; null generates one. */
  apiKey: string | null;
  /** The key that encrypts secrets, 32 bytes in base64 or hex; null reads it from a file of the data folder. */
  masterKey: string | null;
  /** The former key while the key is rotated; null outside a rotation. */
  previousMasterKey: string | null;
  tls: { certFile: string; keyFile: string } | null;
  /** Object storage with the S3 API; null keeps packages in the data folder. */
  storage: S3Config | null;
  runners: RunnerConfig;
  /** Allows several organizations although the boundary around runners does not stop malicious code. */
  allowUnsandboxed: boolean;
  log: LogConfig;
  metrics: MetricsConfig;
  /** Null without tracing. */
  tracing: TracingSettings | null;
  limits: Limits;
}

/** The log of the server itself. */
export interface LogConfig {
  /** Null: text on a terminal, JSON elsewhere. */
  format: LogFormat | null;
  level: LogLevel;
  /** Whether each request is logged. */
  access: boolean;
}

/** Access to the metrics besides `/metrics` with an API key. */
export interface MetricsConfig {
  /** A port that serves them without a key; null for none. */
  port: number | null;
  host: string;
  /** Opens `/metrics` on the port of the server. */
  token: string | null;
}

export interface DatabaseConfig {
  /** Contains a password. */
  url: string;
  /** Connections of this process. */
  connections: number;
}

/** The boundary around runners. */
export interface RunnerConfig {
  /** The runtime of runners; null is the server's own. */
  runtime: RuntimeName | null;
  /** The runtime's program; null finds it on the PATH or in `node_modules/.bin`. */
  path: string | null;
  sandbox: "auto" | "bwrap" | "none";
  /** Under a boundary: `all`, or the addresses and ranges that runners may reach besides public ones. */
  network: RunnerNetwork;
}

/** Options of the command line. An absent option falls back to its environment variable, then to its default. */
export interface ServeOptions {
  host?: string | undefined;
  port?: number | undefined;
  dataDir?: string | undefined;
  publicUrl?: string | undefined;
  role?: string | undefined;
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
}

type Environment = Record<string, string | undefined>;

export interface LimitVariable {
  variable: string;
  default: number;
  min: number;
  /** The former name of the variable, which the server still reads. Remove in version 0.3. */
  alias?: string;
}

/** The environment variable, default and minimum of each limit. The table in docs/configuration.md lists the same. */
export const limitVariables: Record<keyof Limits, LimitVariable> = {
  webhookBytes: { variable: "SVC_MAX_WEBHOOK_BYTES", default: 1024 ** 2, min: 1 },
  jsonDepth: { variable: "SVC_MAX_JSON_DEPTH", default: 64, min: 1 },
  packageBytes: { variable: "SVC_MAX_PACKAGE_BYTES", default: 50 * 1024 ** 2, min: 1024 },
  unpackedBytes: { variable: "SVC_MAX_UNPACKED_BYTES", default: 250 * 1024 ** 2, min: 1024 },
  packageFiles: { variable: "SVC_MAX_PACKAGE_FILES", default: 20_000, min: 1 },
  packageCacheBytes: { variable: "SVC_PACKAGE_CACHE_BYTES", default: 10 * 1024 ** 3, min: 1 },
  outputBytes: { variable: "SVC_MAX_OUTPUT_BYTES", default: 4 * 1024 ** 2, min: 1 },
  logLineBytes: { variable: "SVC_MAX_LOG_LINE_BYTES", default: 16 * 1024, min: 64 },
  logLines: { variable: "SVC_MAX_LOG_LINES", default: 10_000, min: 1 },
  runnerMemoryBytes: {
    variable: "SVC_RUNNER_MEMORY_BYTES",
    default: 256 * 1024 ** 2,
    min: 64 * 1024 ** 2,
    alias: "SVC_CHILD_MEMORY_BYTES",
  },
  concurrency: { variable: "SVC_CONCURRENCY", default: 256, min: 1 },
  executionsPerRunner: {
    variable: "SVC_EXECUTIONS_PER_RUNNER",
    default: 32,
    min: 1,
    alias: "SVC_EXECUTIONS_PER_CHILD",
  },
  runnersPerDeployment: {
    variable: "SVC_RUNNERS_PER_DEPLOYMENT",
    default: 4,
    min: 1,
    alias: "SVC_CHILDREN_PER_DEPLOYMENT",
  },
  retentionDays: { variable: "SVC_RETENTION_DAYS", default: 30, min: 1 },
  retentionCount: { variable: "SVC_RETENTION_COUNT", default: 0, min: 0 },
  connections: { variable: "SVC_MAX_CONNECTIONS", default: 10_000, min: 1 },
  connectionsPerAddress: { variable: "SVC_MAX_CONNECTIONS_PER_ADDRESS", default: 1_000, min: 1 },
  idleSeconds: { variable: "SVC_IDLE_SECONDS", default: 60, min: 1 },
  keepAliveSeconds: { variable: "SVC_KEEP_ALIVE_SECONDS", default: 30, min: 1 },
  webhookRate: { variable: "SVC_WEBHOOK_RATE", default: 50, min: 1 },
  webhookBurst: { variable: "SVC_WEBHOOK_BURST", default: 100, min: 1 },
  organizationRate: { variable: "SVC_ORGANIZATION_RATE", default: 500, min: 1 },
  organizationBurst: { variable: "SVC_ORGANIZATION_BURST", default: 1000, min: 1 },
};

/** @throws Error that names the option, the rule and the value. */
export function loadConfig(options: ServeOptions, env: Environment): Config {
  const tlsCert = options.tlsCert ?? env.SVC_TLS_CERT;
  const tlsKey = options.tlsKey ?? env.SVC_TLS_KEY;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new Error("Cannot serve TLS: --tls-cert and --tls-key must be given together.");
  }
  return {
    host: options.host ?? (env.SVC_HOST || "127.0.0.1"),
    port: port(options.port ?? env.SVC_PORT ?? 7070),
    dataDir: resolve(options.dataDir ?? (env.SVC_DATA_DIR || ".svc")),
    role: oneOf("the role (--role, SVC_ROLE)", options.role ?? env.SVC_ROLE, roles) ?? "all",
    database: database(env),
    publicUrl: publicUrl(options.publicUrl ?? env.SVC_PUBLIC_URL),
    allowedHosts: hostNames(env.SVC_ALLOWED_HOSTS ?? ""),
    trustedProxies: parseTrustedProxies(env.SVC_TRUSTED_PROXIES ?? ""),
    corsOrigins: corsOrigins(env.SVC_CORS_ORIGINS ?? ""),
    apiKey: env.SVC_API_KEY || null,
    masterKey: env.SVC_MASTER_KEY || null,
    previousMasterKey: env.SVC_MASTER_KEY_PREVIOUS || null,
    tls: tlsCert && tlsKey ? { certFile: resolve(tlsCert), keyFile: resolve(tlsKey) } : null,
    storage: env.SVC_STORAGE_URL ? parseStorageUrl(env.SVC_STORAGE_URL, env) : null,
    runners: {
      runtime: oneOf("SVC_RUNNER", env.SVC_RUNNER, ["node", "bun", "deno"]),
      path: env.SVC_RUNNER_PATH ? resolve(env.SVC_RUNNER_PATH) : null,
      sandbox: oneOf("SVC_SANDBOX", env.SVC_SANDBOX, ["auto", "bwrap", "none"]) ?? "auto",
      network: parseRunnerNetwork(env.SVC_RUNNER_NETWORK || "public"),
    },
    allowUnsandboxed: env.SVC_ALLOW_UNSANDBOXED === "1",
    log: {
      format: oneOf("SVC_LOG", env.SVC_LOG, logFormats),
      level: oneOf("SVC_LOG_LEVEL", env.SVC_LOG_LEVEL, logLevels) ?? "info",
      access: env.SVC_ACCESS_LOG === "1",
    },
    metrics: {
      port: env.SVC_METRICS_PORT ? wholeNumber("SVC_METRICS_PORT", env.SVC_METRICS_PORT, 0, 65_535) : null,
      host: env.SVC_METRICS_HOST || "127.0.0.1",
      token: metricsToken(env.SVC_METRICS_TOKEN),
    },
    tracing: tracingSettings(env),
    limits: limits(env),
  };
}

/** The database of `SVC_DATABASE_URL`. @throws Error that names the variable and the rule, without the password */
export function database(env: Environment): DatabaseConfig | null {
  if (!env.SVC_DATABASE_URL) return null;
  return {
    url: checkDatabaseUrl(env.SVC_DATABASE_URL),
    connections: wholeNumber("SVC_DATABASE_CONNECTIONS", env.SVC_DATABASE_CONNECTIONS || 9, 3, 1_000),
  };
}

function oneOf<Word extends string>(
  variable: string,
  value: string | undefined,
  words: readonly Word[],
): Word | null {
  if (!value) return null;
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) {
    throw new Error(`Cannot use ${variable}: it must be one of ${words.join(", ")}, not '${value}'.`);
  }
  return word;
}

function limits(env: Environment): Limits {
  const entries = Object.entries(limitVariables).map(
    ([name, { variable, default: standard, min, alias }]) => {
      const used = !env[variable] && alias !== undefined && env[alias] ? alias : variable;
      return [name, wholeNumber(used, env[used] || standard, min)];
    },
  );
  return Object.fromEntries(entries);
}

function wholeNumber(
  name: string,
  value: string | number,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < min || number > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new Error(`Cannot use ${name}: it must be a whole number ${range}, not '${value}'.`);
  }
  return number;
}

function metricsToken(value: string | undefined): string | null {
  if (!value) return null;
  if (/^[\w.~+/=-]{16,256}$/.test(value)) return value;
  throw new Error(
    "Cannot use SVC_METRICS_TOKEN: it must have 16 to 256 letters, digits and characters of -._~+/=.",
  );
}

function port(value: string | number): number {
  return wholeNumber("the port (--port, SVC_PORT)", value, 0, 65_535);
}

function hostNames(value: string): string[] {
  const names = value.split(",").map((name) => name.trim());
  const wrong = names.find((name) => !/^(?:[a-z0-9._-]*|\[[0-9a-f:.]+\])$/i.test(name));
  if (wrong !== undefined) {
    throw new Error(
      `Cannot use SVC_ALLOWED_HOSTS: it must be host names separated by commas, without ports, not '${wrong}'.`,
    );
  }
  return names.filter((name) => name !== "");
}

function corsOrigins(value: string): string[] {
  const origins = value.split(",").map((origin) => origin.trim());
  const known = origins.filter((origin) => origin !== "");
  const wrong = known.find(
    (origin) =>
      origin !== "*" && (origin.includes("*") || !URL.canParse(origin) || new URL(origin).origin !== origin),
  );
  if (wrong !== undefined) {
    throw new Error(
      `Cannot use SVC_CORS_ORIGINS: it must be * or origins separated by commas, for example https://app.example.com, not '${wrong}'.`,
    );
  }
  return known;
}

function publicUrl(value: string | undefined): string | null {
  if (!value) return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
    throw new Error(
      `Cannot use the public URL (--public-url, SVC_PUBLIC_URL): it must be an http or https URL without a query, not '${value}'.`,
    );
  }
  return url.href.replace(/\/+$/, "");
}
