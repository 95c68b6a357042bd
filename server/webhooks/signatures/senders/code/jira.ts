/**
 * Jira Cloud: the HMAC-SHA256 of the body. `x-atlassian-webhook-identifier` is the same in all retries.
 * https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks
 */
import { hmacHeader } from "../../hmac-header.ts";
import { header } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";

export const jira: Scheme = hmacHeader({
  name: "x-hub-signature",
  prefix: "sha256=",
  encoding: "hex",
  headerId: (headers) => header(headers, "x-atlassian-webhook-identifier"),
});
