/** A receiver of alerts, which waits for requests and answers as the test says. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

export class Receiver {
  readonly requests: Received[] = [];
  /** The statuses of the next responses; then 204. */
  readonly statuses: number[] = [];
  readonly #server = createServer(async (request, response) => {
    const body = (await request.setEncoding("utf8").toArray()).join("");
    const status = this.statuses.shift() ?? 204;
    response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
    this.requests.push({ headers: request.headers, body });
    for (const look of [...this.#waiting]) look();
  });
  readonly #waiting = new Set<() => void>();

  /** @returns the URL */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/failures?team=a`;
  }

  /** Resolves to the first `count` requests when they have arrived. */
  received(count: number): Promise<Received[]> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.requests.length < count) return;
        this.#waiting.delete(look);
        resolve(this.requests.slice(0, count));
      };
      this.#waiting.add(look);
      look();
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
