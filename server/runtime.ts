/**
 * All differences between Node, Bun and Deno in the server. No other file checks which runtime it runs on.
 *
 * Runners load this file too. It must therefore import only modules of the runtime.
 */
import { connect, Socket } from "node:net";

// ---- the runtime ---------------------------------------------------------------------------------------------------

export type RuntimeName = "node" | "bun" | "deno";

export interface Runtime {
  readonly name: RuntimeName;
  /** Without a leading `v`, for example `24.21.0`. */
  readonly version: string;
}

export const runtime: Runtime = detect(process.versions);

function detect(versions: NodeJS.ProcessVersions): Runtime {
  if (versions.bun !== undefined) return { name: "bun", version: versions.bun };
  if (versions.deno !== undefined) return { name: "deno", version: versions.deno };
  return { name: "node", version: versions.node };
}

// ---- inside a runner -----------------------------------------------------------------------------------------------

/** The file descriptor of the bidirectional socket between the server and a runner. */
export const channelFd = 3;

/** Opens the channel inside a runner. */
export function openChannel(): Socket {
  // Bun's Socket ignores the option `fd` in its constructor; Node's and Deno's `connect` do not know it.
  return runtime.name === "bun"
    ? connect({ fd: channelFd } as never)
    : new Socket({ fd: channelFd, readable: true, writable: true });
}

/** Whether an uncaught error of a timer is handled in the asynchronous context of the timer. */
export const timerErrorsKeepContext: boolean = runtime.name !== "deno";

// ---- the HTTP port -------------------------------------------------------------------------------------------------

/**
 * How an HTTP/1.1 connection gets to the HTTP/1.1 server.
 *
 * - `self`: the HTTP/1.1 server accepts all connections, and HTTP/2 connections are taken from it. Node's timeouts for
 *   slow senders work only on a server that listens.
 * - `emit`: a `net` server accepts, and emits `connection` on the HTTP/1.1 server. Bun's HTTP server cannot pass on a
 *   connection that it accepted.
 * - `loopback`: a `net` server accepts, and pipes to an HTTP/1.1 server on a loopback port. On Deno, `emit` fails at the
 *   second request of a connection.
 */
export const http1Handover: "self" | "emit" | "loopback" = (
  { node: "self", bun: "emit", deno: "loopback" } as const
)[runtime.name];

/**
 * Whether a session of HTTP/2 may be closed while it handles a packet. Deno then frees the session and goes on reading
 * it: the process crashes when a client sends GOAWAY (https://github.com/denoland/deno/issues/36788).
 */
export const http2EndsInPacket: boolean = runtime.name !== "deno";

/**
 * Whether the runtime closes a connection of HTTP/2 when a request ends short of its Content-Length, and not only the stream
 * (RFC 9113, section 8.1.1).
 */
export const http2ShortBodyEndsSession: boolean = runtime.name === "deno";

/** For display, for example `node 24.21.0`. */
export const runtimeName: string = `${runtime.name} ${runtime.version}`;
