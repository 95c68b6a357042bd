/** Serves HTTP/1.1 and HTTP/2 over TLS. */
import type { SecureServerOptions } from "node:http2";
import type { Socket } from "node:net";
import { withExpectation } from "../routes/body-pace.ts";
import type { Handler } from "../routes/dispatch.ts";
import { http1Handover } from "../runtime.ts";
import { readTlsFiles, type TlsFiles } from "../tls.ts";
import type { Admission } from "./admission.ts";
import type { Listener } from "./contract.ts";
import { loadHttp2 } from "./http2.ts";
import { closeWithoutRequest } from "./idle.ts";
import { drain, listening } from "./listening.ts";
import { firstByteMs, headersMs, maxHeaderBytes } from "./options.ts";
import { type Sessions, unlessDestroyed } from "./sessions.ts";

export function createTlsListener(
  handler: Handler,
  admission: Admission,
  sessions: Sessions,
  files: TlsFiles,
): Listener {
  const server = loadHttp2().createSecureServer(
    {
      ...sessions.options(),
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersMs,
      requestTimeout: 0,
      handshakeTimeout: firstByteMs,
      allowHTTP1: true,
      ...readTlsFiles(files),
    } as SecureServerOptions,
    unlessDestroyed(handler),
  );
  // Deno ignores the option.
  Object.assign(server, { keepAliveTimeout: sessions.idleMs });
  // Before the listener of the server, which creates the session.
  server.prependListener("secureConnection", (socket) => {
    if (socket.alpnProtocol === "h2") server.once("session", (session) => sessions.add(session, socket));
  });
  server.on("checkContinue", unlessDestroyed(withExpectation(handler)));
  if (http1Handover !== "self") {
    const idle = closeWithoutRequest(server, sessions.idleMs);
    server.on("secureConnection", (socket) => {
      if (socket.alpnProtocol !== "h2") idle.add(socket);
    });
  }
  server.on("connection", (socket: Socket) => void admission.admit(socket));
  return {
    get connections() {
      return admission.openCount;
    },
    listen: (port, host) => listening(server, port, host),
    drain: () => drain(server, () => sessions.drain()),
    close() {
      sessions.close();
      admission.close();
    },
  };
}
