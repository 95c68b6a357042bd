/**
 * Inside a runner with a network namespace of its own: a loopback port that leads to the egress proxy's Unix socket, since
 * `HTTP_PROXY` and `HTTPS_PROXY`, which all three runtimes obey, can name a port only. It is opened before users' code
 * loads, and grants nothing that the socket does not.
 */
import { connect, createServer } from "node:net";

/** The variable that names the proxy's socket. The runner removes it. */
export const egressVariable = "SVC_RUNNER_EGRESS";
/** The port is free: the runner's network namespace is its own. */
export const egressPort = 3128;

/** Resolves when the port listens. */
export function openEgress(socketPath: string): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ path: socketPath, allowHalfOpen: true });
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(egressPort, "127.0.0.1", () => {
      server.unref();
      resolve();
    });
  });
}
