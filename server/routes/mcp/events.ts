/** A response of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import type { JsonObject } from "../../../project/json.ts";
import type { Response } from "../answer.ts";

/** Proxies and clients close a connection that is quiet for longer. */
const keepAliveMs = 15_000;
/** A client that does not read gets no progress beyond this. */
const maxBufferedBytes = 1024 * 1024;

export class EventStream {
  readonly #response: Response;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(response: Response) {
    this.#response = response;
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.flushHeaders();
    this.#keepAlive = setInterval(() => response.write(": waiting\n\n"), keepAliveMs);
    response.on("close", () => clearInterval(this.#keepAlive));
  }

  /** Drops the message when the client does not read. */
  send(message: JsonObject): void {
    if (this.#response.writableLength < maxBufferedBytes) this.#write(message);
  }

  end(message: JsonObject): void {
    clearInterval(this.#keepAlive);
    this.#write(message);
    this.#response.end();
  }

  #write(message: JsonObject): void {
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }
}
