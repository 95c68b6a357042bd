/**
 * Paddle Billing: `ts=<seconds>;h1=<hex>`, the HMAC-SHA256 of `<ts>:<body>`. A replay from Paddle's dashboard has another
 * `notification_id` and the same `event_id`.
 * https://developer.paddle.com/webhooks/signature-verification
 */

import type { Scheme } from "../../scheme.ts";
import { timedHmac } from "../../timed-hmac.ts";

export const paddle: Scheme = timedHmac({
  name: "paddle-signature",
  separator: ";",
  time: "ts=",
  signature: "h1=",
  joint: ":",
  payloadId: (payload) => payload.notification_id ?? payload.event_id,
});
