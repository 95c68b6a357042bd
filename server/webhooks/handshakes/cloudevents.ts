/**
 * CloudEvents: OPTIONS with `webhook-request-origin`, whose response allows this origin. The allowed rate is per minute.
 * https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md#4-abuse-protection
 */
import type { Handshake } from "./handshake.ts";

export const cloudevents: Handshake = {
  preflight({ method, headers, requestsPerSecond }) {
    const origin = headers["webhook-request-origin"];
    if (method !== "OPTIONS" || typeof origin !== "string") return null;
    const rate = requestsPerSecond === null ? "*" : String(Math.max(1, Math.floor(requestsPerSecond * 60)));
    return {
      status: 200,
      headers: { allow: "POST", "webhook-allowed-origin": origin, "webhook-allowed-rate": rate },
      body: "",
    };
  },
};
