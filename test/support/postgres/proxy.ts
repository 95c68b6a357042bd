/** A TCP proxy in front of a database, which cuts connections at chosen moments. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A chunk on its way. Returning false cuts the connection instead of passing it on. */
type Gate = (chunk: Buffer) => boolean;

export class DatabaseProxy {
  /** Sees what clients send. */
  toServer: Gate = () => true;
  /** Sees what the server sends. */
  toClient: Gate = () => true;
  /** Whether new connections are refused. */
  down = false;
  /** Passes nothing on, and keeps connections open. */
  silent = false;
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
    server.on("connection", (client: Socket) => this.#join(client));
  }

  static async start(url: string): Promise<DatabaseProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new DatabaseProxy(server, new URL(url));
  }

  get url(): string {
    const address = this.#server.address();
    const url = new URL(this.#target);
    if (address !== null && typeof address === "object") url.host = `127.0.0.1:${address.port}`;
    return url.href;
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#sockets.size / 2;
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #join(client: Socket): void {
    if (this.down) {
      client.destroy();
      return;
    }
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const end = (): void => {
      for (const socket of [client, server]) {
        socket.destroy();
        this.#sockets.delete(socket);
      }
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    client.on("data", (chunk) => {
      if (this.silent) return;
      if (this.toServer(chunk)) server.write(chunk);
      else end();
    });
    server.on("data", (chunk) => {
      if (this.silent) return;
      if (this.toClient(chunk)) client.write(chunk);
      else end();
    });
  }
}
