/** `svc serve`: starts the server, prints its address, and stops it on a signal. */
import { loadConfig, type ServeOptions } from "./config.ts";
import { runtimeName } from "./runtime.ts";
import { startServer } from "./server.ts";
import { version } from "./version.ts";

export type { ServeOptions } from "./config.ts";

/**
 * Runs until SIGTERM or SIGINT; a repeated signal ends the process immediately.
 * @returns the exit code
 * @throws Error with one sentence; `StartError` when there is specific advice
 */
export async function serve(options: ServeOptions): Promise<number> {
  // A signal that arrives while the server starts must not be lost: it stops the server as soon as it is open.
  const stop = firstSignal();
  const config = loadConfig(options, process.env);
  const server = await startServer(config);
  console.log(`svc ${version} on ${runtimeName}, data in ${config.dataDir}`);
  console.log(`Agents run on ${server.isolation}`);
  warnPlainHttp(server.publicUrl);
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
