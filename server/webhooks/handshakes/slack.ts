/**
 * Slack: the response to a `url_verification` event is its `challenge`.
 * https://docs.slack.dev/reference/events/url_verification
 */
import { type Handshake, textAnswer } from "./handshake.ts";

export const slack: Handshake = {
  event: ({ payload: { type, challenge } }) =>
    type === "url_verification" && typeof challenge === "string" ? textAnswer(challenge) : null,
};
