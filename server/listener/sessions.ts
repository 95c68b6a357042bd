/**
 * HTTP/2 sessions and their limits. A client that exceeds one is disconnected: nghttp2 limits some of these on Node, and
 * the other runtimes limit less, so that the counts here hold on all of them.
 */
import type { Http2Session, ServerHttp2Session, ServerOptions } from "node:http2";
import type { Socket } from "node:net";
import type { Limits } from "../config/limits.ts";
import type { Handler } from "../routes/dispatch.ts";
import { http2EndsInPacket } from "../runtime.ts";
import type { TrustedProxies } from "../senders/trusted-proxies.ts";
import type { Http2Handler } from "./contract.ts";
import { KeepAlive } from "./keep-alive.ts";
import { firstByteMs, maxHeaderBytes } from "./options.ts";

const maxStreams = 128;
/** Streams that a client resets, PING and SETTINGS frames: this many at once, and then this many per second. */
const burst = 100;
const perSecond = 20;
const unlimited = 1_000_000_000;
const enhanceYourCalm = 0x0b;

/** Node still reports the streams of a packet whose session was destroyed while it handled the packet. */
export function unlessDestroyed(handler: Handler): Http2Handler {
  return (request, response) => {
    if ("stream" in request && isDestroyed(request.stream.session)) return;
    // The compatibility API of `node:http2` covers the parts of `node:http` that this service uses.
    (handler as unknown as Http2Handler)(request, response);
  };
}

/** Sessions that are destroyed after the packet that they handle. */
const ending = new WeakSet<object>();

function isDestroyed(session: Http2Session | undefined): boolean {
  return session === undefined || session.destroyed || ending.has(session);
}

export class Sessions {
  readonly #open = new Set<ServerHttp2Session>();
  readonly #keepAlive: KeepAlive;
  readonly #proxies: TrustedProxies;
  /** A connection without a request in progress closes after this time. */
  readonly idleMs: number;

  constructor(
    { idleSeconds, keepAliveSeconds }: Pick<Limits, "idleSeconds" | "keepAliveSeconds">,
    proxies: TrustedProxies,
  ) {
    this.idleMs = idleSeconds * 1_000;
    this.#keepAlive = new KeepAlive(keepAliveSeconds * 1_000);
    this.#proxies = proxies;
  }

  options(): ServerOptions {
    return {
      maxHeaderListPairs: 128,
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
      maxOutstandingPings: 10,
      maxOutstandingSettings: 10,
      /** Megabytes of a session. */
      maxSessionMemory: 10,
      // nghttp2 counts without regard to the peer. `limitResets` applies to all peers but proxies.
      streamResetBurst: this.#proxies.isEmpty ? burst : unlimited,
      streamResetRate: this.#proxies.isEmpty ? perSecond : unlimited,
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
    } as ServerOptions;
  }

  /** @param socket - the connection; `session.socket` cannot be destroyed */
  add(session: ServerHttp2Session, socket: Socket): void {
    if (!http2EndsInPacket) endAfterPacket(session);
    this.#open.add(session);
    session.setTimeout(this.idleMs, () => session.close());
    session.on("error", () => session.destroy());
    session.once("close", () => this.#open.delete(session));
    this.#keepAlive.add(session, socket);
    limitSetup(session);
    const charge = limitFrames(session);
    // A proxy resets the streams of many senders: one of them must not end the session of all.
    if (!this.#proxies.hasPeer(socket)) limitResets(session, charge);
  }

  /** Ends sessions when their streams have ended. */
  drain(): void {
    for (const session of this.#open) session.close();
  }

  close(): void {
    for (const session of this.#open) session.destroy();
  }
}

/** The runtime also calls these two methods, for example when a client sends GOAWAY. */
function endAfterPacket(session: ServerHttp2Session): void {
  const close = session.close.bind(session);
  const destroy = session.destroy.bind(session);
  session.close = (callback) => void setImmediate(close, callback);
  session.destroy = (error, code) => {
    ending.add(session);
    setImmediate(destroy, error, code);
  };
}

/** The client's SETTINGS must follow its preface. */
function limitSetup(session: ServerHttp2Session): void {
  const timer = setTimeout(() => session.destroy(), firstByteMs);
  const stop = () => clearTimeout(timer);
  session.once("remoteSettings", stop);
  session.once("close", stop);
}

/** @returns counts one frame */
function limitFrames(session: ServerHttp2Session): () => void {
  let tokens = burst;
  let atMs = performance.now();
  const charge = () => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - atMs) / 1000) * perSecond) - 1;
    atMs = now;
    if (tokens < 0) end(session);
  };
  session.on("ping", charge);
  session.on("remoteSettings", charge);
  return charge;
}

function limitResets(session: ServerHttp2Session, charge: () => void): void {
  let streamsInTurn = 0;
  const endTurn = () => {
    streamsInTurn = 0;
  };
  session.on("stream", (stream) => {
    stream.once("aborted", charge);
    // A reset that follows its request in one packet is not reported when the response was written in between. Within one
    // turn of the event loop a client cannot have seen responses, so that it may open only this many streams.
    if (streamsInTurn++ === 0) setImmediate(endTurn);
    if (streamsInTurn > maxStreams + burst) end(session);
  });
}

function end(session: ServerHttp2Session): void {
  if (!isDestroyed(session)) session.destroy(undefined, enhanceYourCalm);
}
