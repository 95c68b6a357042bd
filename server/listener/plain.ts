/** Serves HTTP/1.1 and HTTP/2 without TLS. */
import * as http from "node:http";
import type { Http2Server } from "node:http2";
import { connect, createServer, type Server, type Socket } from "node:net";
import { withExpectation } from "../routes/body-pace.ts";
import type { Handler } from "../routes/dispatch.ts";
import { http1Handover } from "../runtime.ts";
import { carry } from "../senders/carried.ts";
import type { Admission } from "./admission.ts";
import { answerClientError, refuseProxyProtocol } from "./client-error.ts";
import type { Listener } from "./contract.ts";
import { loadHttp2 } from "./http2.ts";
import { closeWithoutRequest, type IdleWatch } from "./idle.ts";
import { drain, listening } from "./listening.ts";
import { headersMs, maxHeaderBytes } from "./options.ts";
import { type Sessions, unlessDestroyed } from "./sessions.ts";
import { sniff } from "./sniff.ts";

export function createPlainListener(handler: Handler, admission: Admission, sessions: Sessions): Listener {
  const http1 = http.createServer({ maxHeaderSize: maxHeaderBytes, headersTimeout: headersMs }, handler);
  http1.requestTimeout = 0;
  http1.keepAliveTimeout = sessions.idleMs;
  http1.on("clientError", answerClientError);
  http1.on("checkContinue", withExpectation(handler));
  let http2Server: Http2Server | undefined;
  const { acceptor, serve } = createAcceptor(http1, sessions.idleMs);
  acceptor.on("connection", (socket: Socket) => {
    if (!admission.admit(socket)) return;
    sniff(socket, (protocol) => {
      if (protocol === "http2") {
        // A server of HTTP/1.1 accepts half-open sockets, on which a session would outlive its client.
        socket.allowHalfOpen = false;
        http2Server ??= createHttp2Server(handler, sessions);
        http2Server.once("session", (session) => sessions.add(session, socket));
        http2Server.emit("connection", socket);
      } else if (protocol === "proxy") refuseProxyProtocol(socket);
      else serve(socket);
    });
  });
  return {
    get connections() {
      return admission.openCount;
    },
    listen: (port, host) => listening(acceptor, port, host),
    drain() {
      if (acceptor !== http1) http1.close();
      return drain(acceptor, () => {
        sessions.drain();
        http1.closeIdleConnections();
      });
    },
    close() {
      sessions.close();
      admission.close();
      http1.closeAllConnections();
    },
  };
}

function createHttp2Server(handler: Handler, sessions: Sessions): Http2Server {
  const server = loadHttp2().createServer(sessions.options(), unlessDestroyed(handler));
  server.on("checkContinue", unlessDestroyed(withExpectation(handler)));
  return server;
}

/** The server that accepts connections, and `serve`, which passes one to the HTTP/1.1 server; see `http1Handover`. */
function createAcceptor(
  http1: http.Server,
  idleMs: number,
): { acceptor: Server; serve(socket: Socket): void } {
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
    const idle: IdleWatch = closeWithoutRequest(http1, idleMs);
    return {
      acceptor,
      serve(socket) {
        idle.add(socket);
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
