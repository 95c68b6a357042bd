/**
 * Microsoft Graph: POST with `validationToken` in the query, which is the response.
 * https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks#notificationurl-validation
 */
import { type Handshake, textAnswer } from "./handshake.ts";

export const microsoft: Handshake = {
  preflight({ method, query }) {
    const token = query.get("validationToken");
    return method === "POST" && token !== null ? textAnswer(token) : null;
  },
};
