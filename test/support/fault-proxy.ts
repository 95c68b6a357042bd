/** A proxy in front of an HTTP server that fails chosen requests. */
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";

export type Fault =
  /** Answers without forwarding the request. */
  | { kind: "status"; status: number; code: string }
  /** Forwards the request and closes the connection instead of answering. */
  | { kind: "lost" }
  /** Closes the connection after this many bytes of the response body. */
  | { kind: "truncate"; bytes: number }
  /** Keeps the connection open after this many bytes of the response body; -1 sends no response at all. */
  | { kind: "stall"; bytes: number }
  /** Replaces the response body by zeros of the same length. */
  | { kind: "corrupt" };

export interface SeenRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingMessage["headers"];
}

export class FaultProxy {
  readonly seen: SeenRequest[] = [];
  /** Decides about each request; `count` is the number of requests with faults so far. */
  rule: (request: SeenRequest, count: number) => Fault | null = () => null;
  readonly #server;
  readonly #target: URL;
  #faults = 0;

  constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((request, response) => this.#handle(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The requests with a fault since the last `reset`. */
  get faults(): number {
    return this.#faults;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  reset(rule: FaultProxy["rule"] = () => null): void {
    this.rule = rule;
    this.#faults = 0;
    this.seen.length = 0;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers } = request;
    const seen = { method, url, headers };
    this.seen.push(seen);
    const fault = this.rule(seen, this.#faults);
    if (fault !== null) this.#faults += 1;
    if (fault?.kind === "status") {
      request.resume();
      const body = `<?xml version="1.0"?><Error><Code>${fault.code}</Code><Message>Injected</Message></Error>`;
      request.on("end", () =>
        response.writeHead(fault.status, { "content-type": "application/xml" }).end(body),
      );
      return;
    }
    if (fault?.kind === "stall" && fault.bytes < 0) return;
    const { hostname, port } = this.#target;
    const forwarded = send({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
      if (fault?.kind === "lost") {
        answer.resume();
        answer.on("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (fault === null) answer.pipe(response);
      else relay(answer, response, fault);
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    request.pipe(forwarded);
  }
}

function relay(answer: IncomingMessage, response: ServerResponse, fault: Fault): void {
  response.flushHeaders();
  let sent = 0;
  answer.on("data", (chunk: Buffer) => {
    if (fault.kind === "corrupt") return response.write(Buffer.alloc(chunk.length));
    const limit = fault.kind === "truncate" || fault.kind === "stall" ? fault.bytes : 0;
    const piece = chunk.subarray(0, Math.max(0, limit - sent));
    sent += piece.length;
    response.write(piece);
    if (sent < limit) return;
    answer.pause();
    if (fault.kind === "truncate") response.socket?.destroySoon();
  });
  answer.on("end", () => response.end());
}
