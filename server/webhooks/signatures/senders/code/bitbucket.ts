/**
 * Bitbucket: the HMAC-SHA256 of the body. Bitbucket Cloud sends `x-request-uuid`, Data Center `x-request-id`.
 * https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/#Secure-webhooks
 */
import { hmacHeader } from "../../hmac-header.ts";
import { header } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";

export const bitbucket: Scheme = hmacHeader({
  name: "x-hub-signature",
  prefix: "sha256=",
  encoding: "hex",
  headerId: (headers) => header(headers, "x-request-uuid") ?? header(headers, "x-request-id"),
});
