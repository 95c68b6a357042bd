/**
 * Slack: `x-slack-signature` is `v0=` and the hex HMAC-SHA256 of `v0:<x-slack-request-timestamp>:<body>`. The response to a
 * `url_verification` event, which is signed too, is its `challenge`.
 * https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
import { hmacHeader } from "../hmac-header.ts";
import { deliveryOf } from "../request.ts";
import type { Scheme } from "../scheme.ts";

const { verify } = hmacHeader({
  name: "x-slack-signature",
  prefix: "v0=",
  encoding: "hex",
  timeHeader: "x-slack-request-timestamp",
  before: (_request, seconds) => `v0:${seconds}:`,
});

export const slack: Scheme = {
  signsDeliveryId: true,
  verify,
  delivery(_headers, payload) {
    if (payload.type === "url_verification" && typeof payload.challenge === "string") {
      return { deliveryId: null, challenge: payload.challenge };
    }
    return deliveryOf(payload.event_id);
  },
};
