/**
 * Meta: GET with `hub.mode=subscribe`, the verify token of the subscription and a challenge, which is the response.
 * https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests
 */
import { sameSecret } from "../signatures/digest.ts";
import { type Handshake, textAnswer } from "./handshake.ts";

export const meta: Handshake = {
  preflight({ method, query, secrets }) {
    const challenge = query.get("hub.challenge");
    if (method !== "GET" || query.get("hub.mode") !== "subscribe" || challenge === null) return null;
    const token = Buffer.from(query.get("hub.verify_token") ?? "");
    const isOurs = secrets.some((secret) => secret !== "" && sameSecret(token, secret));
    return isOurs
      ? textAnswer(challenge)
      : { refused: "The verify token is not the webhook's.", status: 403 };
  },
};
