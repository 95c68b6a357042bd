/**
 * Dropbox: GET with `challenge` in the query, which is the response.
 * https://www.dropbox.com/developers/reference/webhooks#verification-request
 */
import { type Handshake, textAnswer } from "./handshake.ts";

export const dropbox: Handshake = {
  preflight({ method, query }) {
    const challenge = query.get("challenge");
    return method === "GET" && challenge !== null ? textAnswer(challenge) : null;
  },
};
