/**
 * Google push notifications (Drive, Calendar, Admin SDK): `x-goog-channel-token` carries the token that the
 * channel was created with. Nothing is signed, so the scheme is only as safe as the connection.
 * https://developers.google.com/workspace/drive/api/guides/push#receive-notifications
 */

import { verify as verifyToken } from "../../general/token.ts";
import { header, idOf } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";

export const google: Scheme = {
  signsDeliveryId: false,
  verify: (request) =>
    verifyToken({ ...request, definition: { ...request.definition, header: "x-goog-channel-token" } }),
  deliveryId(headers) {
    const channel = header(headers, "x-goog-channel-id");
    const number = header(headers, "x-goog-message-number");
    return channel === null || number === null ? null : idOf(`${channel}:${number}`);
  },
};
