/**
 * Stripe: `stripe-signature` is `t=<seconds>,v1=<hex>[,v1=<hex>]`, each `v1` the HMAC-SHA256 of `<t>.<body>` under the
 * endpoint's secret including its `whsec_`. Other versions, such as `v0` of test events, are ignored.
 * https://docs.stripe.com/webhooks/signature
 */
import type { Scheme } from "../../scheme.ts";
import { timedHmac } from "../../timed-hmac.ts";

export const stripe: Scheme = timedHmac({
  name: "stripe-signature",
  separator: ",",
  time: "t=",
  signature: "v1=",
  joint: ".",
  payloadId: (payload) => payload.id,
});
