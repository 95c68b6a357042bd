/**
 * One port for all protocols. Without TLS the first bytes of a connection select the protocol: a client with prior
 * knowledge of HTTP/2 sends the preface `PRI * HTTP/2.0` (RFC 9113, section 3.4). With TLS, ALPN selects it.
 */
import * as http from "node:http";
import * as http2 from "node:http2";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Config } from "./config.ts";
import { StartError } from "./errors.ts";
import type { Handler } from "./routes/dispatch.ts";
import { http1Handover } from "./runtime.ts";
import { carry } from "./sender.ts";
import { readTlsFiles, type TlsFiles } from "./tls.ts";

const maxHeaderBytes = 16 * 1024;
const headersMs = 15_000;
const idleMs = 60_000;
/** A connection that sends nothing is closed after this time. */
const firstByteMs = 15_000;
const maxStreams = 256;

export interface Listener {
  /**
   * Resolves to the port.
   * @throws StartError when the port cannot be used
   */
  listen(port: number, host: string): Promise<number>;
  /** Stops accepting and closes idle connections; resolves when all requests have been answered. */
  drain(): Promise<void>;
  /** Closes all connections. */
  close(): void;
}

export function createListener(handler: Handler, tls: Config["tls"]): Listener {
  return tls === null ? plainListener(handler) : tlsListener(handler, tls);
}

/** The compatibility API of `node:http2` covers the parts of `node:http` that this service uses. */
type Http2Handler = (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void;

function http2Options() {
  return {
    maxHeaderListPairs: 128,
    settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
  };
}

function plainListener(handler: Handler): Listener {
  const sockets = new Set<Socket>();
  const sessions = new Set<http2.ServerHttp2Session>();
  const http1 = http.createServer({ maxHeaderSize: maxHeaderBytes, headersTimeout: headersMs }, handler);
  http1.requestTimeout = 0;
  http1.keepAliveTimeout = idleMs;
  http1.on("clientError", answerClientError);
  const http2Server = http2.createServer(http2Options(), handler as unknown as Http2Handler);
  http2Server.on("session", (session) => track(session, sessions));
  const { acceptor, serve } = createAcceptor(http1);
  acceptor.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    sniff(socket, (isHttp2) => {
      if (isHttp2) http2Server.emit("connection", socket);
      else serve(socket);
    });
  });
  return {
    listen: (port, host) => listening(acceptor, port, host),
    drain() {
      if (acceptor !== http1) http1.close();
      return drain(acceptor, sessions, () => http1.closeIdleConnections());
    },
    close() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
      http1.closeAllConnections();
    },
  };
}

/** The server that accepts connections, and `serve`, which passes one to the HTTP/1.1 server; see `http1Handover`. */
function createAcceptor(http1: http.Server): { acceptor: Server; serve(socket: Socket): void } {
  if (http1Handover === "self") {
    const [serve] = http1.listeners("connection") as ((socket: Socket) => void)[];
    http1.removeAllListeners("connection");
    return {
      acceptor: http1,
      serve(socket) {
        serve?.call(http1, socket);
        socket.resume();
      },
    };
  }
  const acceptor = createServer();
  if (http1Handover === "emit") {
    return {
      acceptor,
      serve(socket) {
        http1.emit("connection", socket);
        socket.resume();
      },
    };
  }
  let port: Promise<number> | null = null;
  return {
    acceptor,
    serve(socket) {
      port ??= listening(http1, 0, "127.0.0.1");
      port.then(
        (number) => pipe(socket, number),
        () => socket.destroy(),
      );
    },
  };
}

function tlsListener(handler: Handler, files: TlsFiles): Listener {
  const sessions = new Set<http2.ServerHttp2Session>();
  const sockets = new Set<Socket>();
  const server = http2.createSecureServer(
    {
      ...http2Options(),
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersMs,
      allowHTTP1: true,
      ...readTlsFiles(files),
    } as http2.SecureServerOptions,
    handler as unknown as Http2Handler,
  );
  server.on("session", (session) => track(session, sessions));
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return {
    listen: (port, host) => listening(server, port, host),
    drain: () => drain(server, sessions, () => {}),
    close() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function track(session: http2.ServerHttp2Session, sessions: Set<http2.ServerHttp2Session>): void {
  sessions.add(session);
  session.setTimeout(idleMs, () => session.close());
  session.on("error", () => session.destroy());
  session.once("close", () => sessions.delete(session));
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/**
 * Reads the first bytes and puts them back. It uses `readable`: after a `data` event the socket is in flowing mode,
 * and the HTTP/2 session would miss the bytes.
 */
function sniff(socket: Socket, decide: (isHttp2: boolean) => void): void {
  const onError = () => socket.destroy();
  socket.on("error", onError);
  socket.setTimeout(firstByteMs, onError);
  socket.once("readable", () => {
    socket.setTimeout(0);
    socket.removeListener("timeout", onError);
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    socket.unshift(chunk);
    const start = chunk.toString("latin1", 0, preface.length);
    decide(start.length >= 3 && preface.startsWith(start));
  });
}

function pipe(socket: Socket, port: number): void {
  const inner = connect(port, "127.0.0.1");
  carry(inner, socket);
  inner.setNoDelay(true);
  socket.setNoDelay(true);
  const end = () => {
    inner.destroy();
    socket.destroy();
  };
  inner.on("error", end);
  inner.on("close", end);
  socket.on("close", end);
  socket.pipe(inner);
  inner.pipe(socket);
}

function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, reason, code, message] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [
          431,
          "Request Header Fields Too Large",
          "resource_exhausted",
          `The headers must not exceed ${maxHeaderBytes} bytes.`,
        ]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [408, "Request Timeout", "deadline_exceeded", "The request did not arrive in time."]
        : [400, "Bad Request", "invalid_argument", "The request is not valid HTTP."];
  const body = JSON.stringify({ code, message });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function listening(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(listenError(error, port, host));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

const foreignAddress = [
  "this machine does not have the address",
  "Pass an address of this machine with --host, for example 127.0.0.1, or 0.0.0.0 for all of them.",
] as const;

const listenProblems: Record<string, readonly [problem: string, advice: string]> = {
  EADDRINUSE: [
    "another process uses the port",
    "Stop that process, or choose another port with --port; 0 picks a free one.",
  ],
  EACCES: ["this user may not use the port", "Choose a port of at least 1024 with --port."],
  EADDRNOTAVAIL: foreignAddress,
  // Deno's code for the same.
  EINVAL: foreignAddress,
};

function listenError(error: NodeJS.ErrnoException, port: number, host: string): StartError {
  const [problem, advice] = listenProblems[error.code ?? ""] ?? [error.message, "Check --host and --port."];
  return new StartError(`Cannot listen on ${host}:${port}: ${problem}.`, advice, error);
}

function drain(
  server: Server,
  sessions: Set<http2.ServerHttp2Session>,
  closeIdle: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const session of sessions) session.close();
    closeIdle();
  });
}
