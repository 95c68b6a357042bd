/**
 * One PostgreSQL server, one S3 endpoint, one packed package and one bundled server for a run of the suite. Each is there
 * when a test first asks for it, so that a run without such tests does not pay for it.
 */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { buildLauncher } from "./built-launcher.ts";
import { addressVariable, type Endpoint } from "./endpoints.ts";
import { buildPackage } from "./package.ts";
import { PostgresServer } from "./postgres/server.ts";
import { startS3 } from "./s3.ts";

interface Started {
  /** The response to tests. */
  text: string;
  stop(): Promise<void>;
}

const starts: Record<Endpoint, () => Promise<Started>> = {
  async postgres() {
    const server = await PostgresServer.start();
    return { text: server.url(), stop: () => server.discard() };
  },
  async s3() {
    const server = await startS3();
    return { text: JSON.stringify(server), stop: () => server.close() };
  },
  async package() {
    const packed = await buildPackage();
    return {
      text: JSON.stringify(packed),
      stop: async () => rmSync(packed.folder, { recursive: true, force: true }),
    };
  },
  async launcher() {
    const { folder, launcher } = await buildLauncher();
    return { text: launcher, stop: async () => rmSync(folder, { recursive: true, force: true }) };
  },
};

export default async function setup(): Promise<() => Promise<void>> {
  const started = new Map<Endpoint, Promise<Started>>();
  const broker = createServer((request, response) => {
    const name = request.url?.slice(1) as Endpoint;
    const server = started.get(name) ?? starts[name]();
    started.set(name, server);
    server.then(
      ({ text }) => response.end(text),
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
    for (const server of started.values()) await (await server.catch(() => null))?.stop();
  };
}
