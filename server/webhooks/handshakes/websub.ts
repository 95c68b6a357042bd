/**
 * WebSub: GET with `hub.mode=subscribe`, a topic and a challenge, which is the response. Unsubscribing is not confirmed.
 * https://www.w3.org/TR/websub/#hub-verifies-intent
 */
import { type Handshake, textAnswer } from "./handshake.ts";

export const websub: Handshake = {
  preflight({ method, query }) {
    const challenge = query.get("hub.challenge");
    const subscribes = query.get("hub.mode") === "subscribe" && query.has("hub.topic");
    return method === "GET" && subscribes && challenge !== null ? textAnswer(challenge) : null;
  },
};
