/** `svc serve`: starts the server, says where it is, and stops it on a signal. */
import { loadConfig, type ServeOptions } from "./config.ts";
import { runtimeName } from "./runtime.ts";
import { startServer } from "./server.ts";
import { version } from "./version.ts";

export type { ServeOptions } from "./config.ts";

/**
 * Runs until SIGTERM or SIGINT; a second signal ends it at once.
 * @returns the exit code
 * @throws Error that says in one line why the server cannot start
 */
export async function serve(options: ServeOptions): Promise<number> {
  const config = loadConfig(options, process.env);
  const server = await startServer(config);
  console.log(`svc ${version} on ${runtimeName}, data in ${config.dataDir}`);
  warnPlainHttp(server.publicUrl);
  if (server.firstKey !== null) {
    console.log("\nThe first organization was created. Its API key is shown only this once:\n");
    console.log(`  export SVC_API_KEY=${server.firstKey}\n`);
  }
  server.open();
  console.log(`Listening on ${server.url}`);
  const signal = await firstSignal();
  console.log(`${signal}: finishing what runs …`);
  await server.close();
  console.log("Stopped.");
  return 0;
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

/** Webhook URLs are secrets; on the way to another machine they need TLS. */
function warnPlainHttp(publicUrl: string): void {
  const { protocol, hostname } = new URL(publicUrl);
  const loopback = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  if (protocol === "http:" && !loopback) {
    console.error(
      `Warning: ${publicUrl} is plain http. Webhook URLs are secrets: serve them over https (--tls-cert and --tls-key, or a proxy and --public-url).`,
    );
  }
}
