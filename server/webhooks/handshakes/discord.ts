/**
 * Discord: an interaction of type 1 is a PING, whose response is a PONG. A webhook event of type 0 is a PING, whose response
 * is 204; a webhook event of type 1 is an event.
 * https://discord.com/developers/docs/interactions/overview#setting-up-an-endpoint-acknowledging-ping-requests
 * https://discord.com/developers/docs/events/webhook-events#preparing-for-events
 */
import { type Handshake, jsonAnswer } from "./handshake.ts";

export const discord: Handshake = {
  event({ payload }) {
    if (payload.type === 0 && payload.event === undefined) return { status: 204, headers: {}, body: "" };
    return payload.type === 1 && payload.event === undefined ? jsonAnswer({ type: 1 }) : null;
  },
};
