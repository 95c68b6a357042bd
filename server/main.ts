/** `svc serve`: starts the server, prints its address, and stops it on a signal. */
import { type Config, loadConfig, type ServeOptions } from "./config.ts";
import { describeDatabase } from "./database-url.ts";
import { runtimeName } from "./runtime.ts";
import { type Outside, startServer } from "./server.ts";
import { describeStorage } from "./storage-url.ts";
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
  const server = await startServer(config, outside);
  console.log(`svc ${version} on ${runtimeName}, data in ${config.dataDir}`);
  if (config.storage !== null) console.log(`Packages in ${describeStorage(config.storage)}`);
  if (config.database !== null) console.log(`Store in ${describeDatabase(config.database.url)}`);
  if (config.role !== "all") console.log(`Role ${config.role}`);
  if (server.isolation !== null) console.log(`Agents run on ${server.isolation}`);
  warnPlainHttp(server.publicUrl);
  warnSeparateFolders(config);
  try {
    await server.open(printFirstKey);
  } catch (error) {
    await server.close();
    throw error;
  }
  console.log(`Listening on ${server.url}`);
  const signal = await stop;
  console.log(`${signal}: waiting for running executions …`);
  await server.close();
  console.log("Stopped.");
  return 0;
}

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
  console.error(
    `Warning: packages are in ${dataDir}. Every process of this database needs the same folder: share it, or set SVC_STORAGE_URL.`,
  );
}

/** Webhook URLs are secrets, which plain HTTP would expose on the network. */
function warnPlainHttp(publicUrl: string): void {
  const { protocol, hostname } = new URL(publicUrl);
  const loopback = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  if (protocol === "http:" && !loopback) {
    console.error(
      `Warning: ${publicUrl} uses plain http. Webhook URLs are secrets: serve them over https (--tls-cert and --tls-key, or a proxy and --public-url).`,
    );
  }
}
