/**
 * Slack: `x-slack-signature` is `v0=` and the hex HMAC-SHA256 of `v0:<x-slack-request-timestamp>:<body>`.
 * https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const slack: Scheme = hmacHeader({
  name: "x-slack-signature",
  prefix: "v0=",
  encoding: "hex",
  timeHeader: "x-slack-request-timestamp",
  before: (_request, seconds) => `v0:${seconds}:`,
  payloadId: (payload) => payload.event_id,
});
