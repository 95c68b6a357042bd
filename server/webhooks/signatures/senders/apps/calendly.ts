/**
 * Calendly: `t=<seconds>,v1=<hex>`, the HMAC-SHA256 of `<t>.<body>`. A request has no id.
 * https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures
 */

import type { Scheme } from "../../scheme.ts";
import { timedHmac } from "../../timed-hmac.ts";

export const calendly: Scheme = timedHmac({
  name: "calendly-webhook-signature",
  separator: ",",
  time: "t=",
  signature: "v1=",
  joint: ".",
});
