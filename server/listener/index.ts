/**
 * One port for all protocols. Without TLS the first bytes of a connection select the protocol: a client with prior
 * knowledge of HTTP/2 sends the preface `PRI * HTTP/2.0` (RFC 9113, section 3.4). With TLS, ALPN selects it.
 */
import type { Config, Limits } from "../config.ts";
import type { Handler } from "../routes/dispatch.ts";
import { Admission } from "./admission.ts";
import type { Listener } from "./contract.ts";
import { createPlainListener } from "./plain.ts";
import { createTlsListener } from "./secure.ts";
import { Sessions } from "./sessions.ts";

export type { Listener } from "./contract.ts";

export interface ListenerConfig extends Pick<Config, "tls"> {
  limits: Pick<Limits, "connections" | "connectionsPerAddress" | "keepAliveSeconds">;
}

export function createListener(handler: Handler, { tls, limits }: ListenerConfig): Listener {
  const admission = new Admission(limits);
  const sessions = new Sessions(limits.keepAliveSeconds * 1_000);
  return tls === null
    ? createPlainListener(handler, admission, sessions)
    : createTlsListener(handler, admission, sessions, tls);
}
