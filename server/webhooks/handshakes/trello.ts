/**
 * Trello: HEAD, whose response is 200.
 * https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/#creating-a-webhook
 */
import { type Handshake, textAnswer } from "./handshake.ts";

export const trello: Handshake = {
  preflight: ({ method }) => (method === "HEAD" ? textAnswer("") : null),
};
