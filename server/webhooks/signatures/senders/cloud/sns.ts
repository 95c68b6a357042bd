/** Amazon SNS: `SnsVerifier` verifies the signature, which needs a certificate. The signature covers the message id. */
import { idOf } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";
import { refused } from "../../scheme.ts";

export const sns: Scheme = {
  signsDeliveryId: true,
  verify: () => refused("unusable", "The signature of Amazon SNS needs its certificate."),
  deliveryId: (_headers, payload) => idOf(payload.MessageId),
};
