/**
 * Microsoft Graph: `clientState` of every notification carries the secret that the subscription was created with. Nothing is
 * signed, so the scheme is only as safe as the connection.
 * https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks
 */
import { isJsonObject, type JsonValue } from "../../../../../project/json.ts";
import { sameSecret } from "../../digest.ts";
import { idOf, parsedObject } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";
import { accepted, refused } from "../../scheme.ts";

export const microsoft: Scheme = {
  signsDeliveryId: false,
  verify({ secrets, body }) {
    const notifications = parsedObject(body)?.value;
    if (!Array.isArray(notifications) || notifications.length === 0) {
      return refused("missing", "The body has no notifications with a clientState.");
    }
    const keys = secrets.filter((secret) => secret !== "");
    const areOurs = notifications.every((each) => keys.some((key) => hasState(each, key)));
    return areOurs ? accepted : refused("mismatch", "A clientState is not the webhook's.");
  },
  deliveryId: () => idOf(null),
};

function hasState(notification: JsonValue, secret: string): boolean {
  if (!isJsonObject(notification)) return false;
  const { clientState } = notification;
  return typeof clientState === "string" && sameSecret(Buffer.from(clientState), secret);
}
