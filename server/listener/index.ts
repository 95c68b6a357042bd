/**
 * One port for all protocols. Without TLS the first bytes of a connection select the protocol: a client with prior
 * knowledge of HTTP/2 sends the preface `PRI * HTTP/2.0` (RFC 9113, section 3.4). With TLS, ALPN selects it.
 */
import type { Limits } from "../config/limits.ts";
import type { Config } from "../config.ts";
import type { Handler } from "../routes/dispatch.ts";
import { TrustedProxies } from "../senders/trusted-proxies.ts";
import { Admission } from "./admission.ts";
import type { Listener } from "./contract.ts";
import { createPlainListener } from "./plain.ts";
import { createTlsListener } from "./secure.ts";
import { Sessions } from "./sessions.ts";

export type { Listener } from "./contract.ts";

export interface ListenerConfig extends Pick<Config, "tls" | "trustedProxies"> {
  limits: Pick<Limits, "connections" | "connectionsPerAddress" | "idleSeconds" | "keepAliveSeconds">;
}

export function createListener(handler: Handler, { tls, trustedProxies, limits }: ListenerConfig): Listener {
  const proxies = new TrustedProxies(trustedProxies);
  const admission = new Admission(limits, proxies);
  const sessions = new Sessions(limits, proxies);
  return tls === null
    ? createPlainListener(handler, admission, sessions)
    : createTlsListener(handler, admission, sessions, tls);
}
