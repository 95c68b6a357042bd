/** `svc serve`: starts the server, prints its address, and stops it on a signal. */

import module from "node:module";
import { describeDatabase } from "./config/database-url.ts";
import { describeStorage } from "./config/storage-url.ts";
import { type Config, loadConfig, type ServeOptions } from "./config.ts";
import { runtimeName } from "./runtime.ts";
import { type Outside, startServer } from "./server.ts";
import { configureLog, log } from "./telemetry/log/index.ts";
import { version } from "./version.ts";

export type { ServeOptions } from "./config.ts";

/**
 * Runs until SIGTERM or SIGINT; a repeated signal ends the process immediately.
 * @param outside - replaced in tests
 * @returns the exit code
 * @throws Error with one sentence; `StartError` when there is specific advice
 */
export async function serve(options: ServeOptions, outside?: Outside): Promise<number> {
  // A signal that arrives while the server starts must not be lost: it stops the server as soon as it is open.
  const stop = firstSignal();
  const config = loadConfig(options, process.env);
  const format = config.log.format ?? (process.stdout.isTTY ? "text" : "json");
  configureLog({ format, level: config.log.level });
  const server = await startServer(config, outside);
  log.info(`svc ${version} on ${runtimeName}, data in ${config.dataDir}`);
  if (config.storage !== null) log.info(`Packages in ${describeStorage(config.storage)}`);
  if (config.database !== null) log.info(`Store in ${describeDatabase(config.database.url)}`);
  if (config.role !== "all") log.info(`Role ${config.role}`);
  if (server.isolation !== null) log.info(`Agents run on ${server.isolation}`);
  warnPlainHttp(server.publicUrl);
  warnSeparateFolders(config);
  try {
    await server.open(printFirstKey);
  } catch (error) {
    await server.close();
    throw error;
  }
  if (server.metricsUrl !== null) log.info(`Metrics on ${server.metricsUrl}`);
  log.info(`Listening on ${server.url}`);
  if (config.role !== "worker") log.info(`Console on ${server.publicUrl}/console`);
  // The entries of the start follow each other at once, and are read as one text.
  configureLog({ format, level: config.log.level, showsTime: true });
  // Node writes its cache at an orderly exit only. After a kill or a crash, the next start would compile all modules again.
  module.flushCompileCache?.();
  const signal = await stop;
  log.info(`${signal}: waiting for running executions …`);
  await server.close();
  log.info("Stopped.");
  return 0;
}

/** Not in the log, which others may read. */
function printFirstKey(key: string): void {
  console.log("\nFirst organization created. Its API key is shown only once:\n");
  console.log(`  export SVC_API_KEY=${key}\n`);
}

function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(130);
        stopping = true;
        resolve(signal);
      });
    }
  });
}

/** One process cannot see whether the folder of another one is the same. */
function warnSeparateFolders({ database, storage, dataDir }: Config): void {
  if (database === null || storage !== null) return;
  log.warn(
    `Packages are in ${dataDir}. Every process of this database needs the same folder: share it, or set SVC_STORAGE_URL.`,
  );
}

/** Webhook URLs are secrets, which plain HTTP would expose on the network. */
function warnPlainHttp(publicUrl: string): void {
  const { protocol, hostname } = new URL(publicUrl);
  const loopback = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  if (protocol === "http:" && !loopback) {
    log.warn(
      `${publicUrl} uses plain http. Webhook URLs are secrets: serve them over https (--tls-cert and --tls-key, or a proxy and --public-url).`,
    );
  }
}
