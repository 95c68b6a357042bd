/**
 * One PostgreSQL server for a run of the suite. It starts when a test first asks for it, so that a run without such tests
 * does not pay for it. Tests ask over a loopback port, because each test file runs in its own process.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { PostgresServer } from "./server.ts";

export const addressVariable = "TEST_POSTGRES_ADDRESS";

export default async function setup(): Promise<() => Promise<void>> {
  let started: Promise<PostgresServer> | null = null;
  const broker = createServer((_request, response) => {
    started ??= PostgresServer.start();
    started.then(
      (server) => response.end(server.url()),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  }).listen(0, "127.0.0.1");
  await once(broker, "listening");
  const address = broker.address();
  if (address === null || typeof address === "string") throw new Error("No port is free.");
  process.env[addressVariable] = `http://127.0.0.1:${address.port}`;
  return async () => {
    broker.close();
    broker.closeAllConnections();
    const server = await started?.catch(() => null);
    await server?.discard();
  };
}
