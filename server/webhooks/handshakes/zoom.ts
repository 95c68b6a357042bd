/**
 * Zoom: the response to `endpoint.url_validation` is its token and the HMAC-SHA256 of the token under the secret.
 * https://developers.zoom.us/docs/api/webhooks/#validate-your-webhook-endpoint
 */
import { createHmac } from "node:crypto";
import { isJsonObject } from "../../../project/json.ts";
import { type Handshake, jsonAnswer } from "./handshake.ts";

export const zoom: Handshake = {
  event({ payload: { event, payload }, secrets: [secret] }) {
    if (event !== "endpoint.url_validation" || !isJsonObject(payload) || secret === undefined) return null;
    const { plainToken } = payload;
    if (typeof plainToken !== "string") return null;
    return jsonAnswer({
      plainToken,
      encryptedToken: createHmac("sha256", secret).update(plainToken).digest("hex"),
    });
  },
};
