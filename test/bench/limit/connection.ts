/**
 * One keep-alive connection of a load: HTTP/1.1 over a plain socket, one request at a time. It parses only as much of a
 * response as is needed to find its end (RFC 9112): `fetch` and `node:http` cost more than the server under test.
 */
import { connect, type Socket } from "node:net";

export interface ConnectionEvents {
  /** The complete response to the last request has arrived. */
  responded(status: number): void;
  /** The connection was closed; `waiting` when a response was outstanding. Not called after `close`. */
  lost(waiting: boolean): void;
}

export class Connection {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  #unread: Buffer | null = null;
  #waiting = false;
  /** Set by the owner: when the current request was due. */
  dueMs = 0;

  constructor(host: string, port: number, events: ConnectionEvents) {
    this.#events = events;
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#socket.on("error", () => undefined);
    this.#socket.on("close", this.#onClose);
  }

  /** @param request - must not change before the response */
  send(request: Uint8Array): void {
    this.#waiting = true;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.off("close", this.#onClose).destroy();
  }

  readonly #onClose = (): void => this.#events.lost(this.#waiting);

  #read(chunk: Buffer): void {
    const bytes = this.#unread === null ? chunk : Buffer.concat([this.#unread, chunk]);
    const response = readResponse(bytes);
    if (response === null) {
      this.#unread = bytes;
      return;
    }
    this.#unread = null;
    if (!this.#waiting || response.end !== bytes.length) {
      this.#socket.destroy(new Error("The server sent more than one response."));
      return;
    }
    this.#waiting = false;
    this.#events.responded(response.status);
  }
}

/** The first final response and its end; null when it is incomplete. */
function readResponse(bytes: Buffer): { status: number; end: number } | null {
  for (let from = 0; ; ) {
    const headEnd = bytes.indexOf("\r\n\r\n", from);
    if (headEnd < 0) return null;
    const head = bytes.toString("latin1", from, headEnd);
    const status = Number(head.slice(9, 12));
    from = headEnd + 4;
    if (status < 200) continue;
    const end = bodyEnd(bytes, from, status, head);
    return end === null || end > bytes.length ? null : { status, end };
  }
}

function bodyEnd(bytes: Buffer, from: number, status: number, head: string): number | null {
  if (status === 204 || status === 304) return from;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length !== null) return from + Number(length[1]);
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) {
    throw new Error(`Cannot find the end of a response: it must have a length, and its head is ${head}`);
  }
  for (let at = from; at < bytes.length; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    at = lineEnd + 2 + size + 2;
    if (size === 0) return at;
  }
  return null;
}
