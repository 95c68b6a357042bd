/** The limits of the server and the environment variables that set them. docs/configuration.md lists the same. */
import { type Environment, wholeNumber } from "./values.ts";

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

/** @throws Error that names the variable, the rule and the value */
export function limits(env: Environment): Limits {
  const entries = Object.entries(limitVariables).map(
    ([name, { variable, default: standard, min, alias }]) => {
      const used = !env[variable] && alias !== undefined && env[alias] ? alias : variable;
      return [name, wholeNumber(used, env[used] || standard, min)];
    },
  );
  return Object.fromEntries(entries);
}
