/** The server that `svc dev` and `svc test` embed: the same as that of `svc serve`, for the project of its user. */
import { loadConfig } from "../../server/config.ts";
import { createKey } from "../../server/keys.ts";
import { type LocalMode, type RunningServer, startServer } from "../../server/server.ts";
import { type Connection, connectionTo } from "../api/connection.ts";
import { CliError } from "../app/errors.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

export interface LocalServiceOptions {
  purpose: "dev" | "test";
  dataDir: string;
  /** The ports to try in this order; 0 is any free port. */
  ports: readonly number[];
  publicUrl?: string | undefined;
  /** Registered when the store is empty. */
  apiKey: string;
  environment: string;
  /** Called when an attempt of an execution starts. */
  onAttempt(executionId: string): void;
  /** Called for webhook requests that start no execution. */
  onRejection?: LocalMode["onRejection"];
}

export interface LocalService {
  /** The address with the environment. */
  readonly baseUrl: string;
  /** The boundary around runners, in words. */
  readonly isolation: string;
  /** Whether the boundary can restrict the hosts that runners reach. */
  readonly enforcesNetwork: boolean;
  readonly connection: Connection;
  /** @param graceMs - how long running executions may continue */
  close(graceMs: number): Promise<void>;
}

/**
 * The settings of another service: this one has its own store, address and key. Limits and the boundary around runners
 * stay as they are set.
 */
const ignoredVariables = [
  "SVC_API_KEY",
  "SVC_DATABASE_CONNECTIONS",
  "SVC_DATABASE_URL",
  "SVC_DATA_DIR",
  "SVC_HOST",
  "SVC_MASTER_KEY",
  "SVC_METRICS_PORT",
  "SVC_PORT",
  "SVC_PUBLIC_URL",
  "SVC_ROLE",
  "SVC_STORAGE_URL",
  "SVC_TLS_CERT",
  "SVC_TLS_KEY",
];

export function newApiKey(): string {
  return createKey().text;
}

/** Starts the server. @throws CliError when it cannot start */
export async function openLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const { apiKey, environment, purpose } = options;
  const settings = Object.entries(process.env).filter(([name]) => !ignoredVariables.includes(name));
  const env = { ...Object.fromEntries(settings), SVC_API_KEY: apiKey };
  const start = (port: number): Promise<RunningServer> => {
    const { dataDir, publicUrl } = options;
    const config = loadConfig({ host: "127.0.0.1", port, dataDir, publicUrl }, env);
    const { onAttempt, onRejection } = options;
    const hooks = onRejection === undefined ? { onAttempt } : { onAttempt, onRejection };
    return startServer(config, { local: { purpose, ...hooks } });
  };
  try {
    const server = await firstFree(options.ports, start);
    await server
      .open(() => {})
      .catch(async (error: unknown) => {
        await server.close(0);
        throw error;
      });
    const baseUrl = `${server.url}/env/${environment}`;
    return {
      baseUrl,
      isolation: server.isolation ?? "",
      enforcesNetwork: server.enforcesNetwork,
      connection: connectionTo({ baseUrl, apiKey, profile: null, source: "dev" }),
      close: (graceMs) => server.close(graceMs),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const advice = error instanceof Error && "advice" in error ? String(error.advice) : "";
    throw new CliError(sanitizeLine(message), advice || `Run \`svc ${purpose} --help\` for all options.`, {
      cause: error,
    });
  }
}

async function firstFree<Result>(
  ports: readonly number[],
  start: (port: number) => Promise<Result>,
): Promise<Result> {
  for (const port of ports.slice(0, -1)) {
    try {
      return await start(port);
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE") throw error;
    }
  }
  return start(ports.at(-1) ?? 0);
}
