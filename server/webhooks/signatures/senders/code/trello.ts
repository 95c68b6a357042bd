/**
 * Trello: the base64 HMAC-SHA1 of the body and the callback URL under the application secret.
 * https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/#webhook-signatures
 */
import { isJsonObject } from "../../../../../project/json.ts";
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const trello: Scheme = hmacHeader({
  name: "x-trello-webhook",
  algorithm: "sha1",
  encoding: "base64",
  after: ({ url }) => url,
  payloadId: ({ action }) => (isJsonObject(action) ? action.id : null),
});
