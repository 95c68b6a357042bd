/**
 * Shopify: `x-shopify-hmac-sha256` is the base64 HMAC-SHA256 of the body under the app's client secret. Its newer event
 * subscriptions send the same headers without `x-`. The signature covers neither the time nor the delivery id.
 * https://shopify.dev/docs/apps/build/webhooks/subscribe/https#step-2-validate-the-origin-of-your-webhook
 */
import { hmacHeader } from "../../hmac-header.ts";
import { header } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";

const encoding = "base64";
const older = hmacHeader({
  name: "x-shopify-hmac-sha256",
  encoding,
  headerId: (headers) => header(headers, "x-shopify-webhook-id") ?? header(headers, "shopify-webhook-id"),
});
const newer = hmacHeader({ name: "shopify-hmac-sha256", encoding });

export const shopify: Scheme = {
  signsDeliveryId: older.signsDeliveryId,
  verify(request) {
    const hasOlder = header(request.headers, "x-shopify-hmac-sha256") !== null;
    const isNewer = !hasOlder && header(request.headers, "shopify-hmac-sha256") !== null;
    return isNewer ? newer.verify(request) : older.verify(request);
  },
  deliveryId: older.deliveryId,
};
