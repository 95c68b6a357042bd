/**
 * Zoom: the HMAC-SHA256 of `v0:<x-zm-request-timestamp>:<body>` under the app's secret token.
 * https://developers.zoom.us/docs/api/webhooks/#verify-webhook-events
 */
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const zoom: Scheme = hmacHeader({
  name: "x-zm-signature",
  prefix: "v0=",
  encoding: "hex",
  timeHeader: "x-zm-request-timestamp",
  before: (_request, seconds) => `v0:${seconds}:`,
});
