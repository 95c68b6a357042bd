/**
 * The configuration of the server: the options of `svc serve`, each of which is also an environment variable, and the
 * limits. An invalid value stops the start with a message that names the variable, the rule and the value.
 */
import { resolve } from "node:path";
import { checkDatabaseUrl } from "./config/database-url.ts";
import { type Limits, limits } from "./config/limits.ts";
import { parseRunnerNetwork, type RunnerNetwork } from "./config/runner-network.ts";
import { parseStorageUrl, type S3Config } from "./config/storage-url.ts";
import {
  corsOrigins,
  type Environment,
  hostNames,
  metricsToken,
  oneOf,
  port,
  publicUrl,
  wholeNumber,
} from "./config/values.ts";
import type { RuntimeName } from "./runtime.ts";
import { parseTrustedProxies } from "./senders/trusted-proxies.ts";
import { type LogFormat, type LogLevel, logFormats, logLevels } from "./telemetry/log/index.ts";
import { type TracingSettings, tracingSettings } from "./telemetry/tracing/settings.ts";

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
