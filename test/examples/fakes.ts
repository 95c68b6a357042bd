/** The services that the examples call: a forge, a chat, a shop, a model and a payment service, on one port. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Call {
  method: string;
  /** With the query. */
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
}

export interface FakeAnswer {
  status?: number;
  body?: unknown;
}

export class Fakes {
  readonly calls: Call[] = [];
  readonly #answers = new Map<string, FakeAnswer[]>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const { method = "", url: path = "", headers } = request;
      this.calls.push({ method, path, headers, body: text === "" ? null : JSON.parse(text) });
      const queue = this.#answers.get(path.split("?")[0] ?? "") ?? [];
      // The last answer is repeated.
      const { status = 200, body = {} } = (queue.length > 1 ? queue.shift() : queue[0]) ?? { status: 404 };
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets the answers of a path, one for each call. */
  answer(path: string, ...answers: FakeAnswer[]): void {
    this.#answers.set(path, answers);
  }

  callsTo(path: string): Call[] {
    return this.calls.filter((call) => call.path.split("?")[0] === path);
  }
}
