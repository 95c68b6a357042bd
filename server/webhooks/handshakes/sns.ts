/**
 * Amazon SNS: a `SubscriptionConfirmation` names a URL that confirms the subscription when it is visited. An
 * `UnsubscribeConfirmation` is recorded only: visiting its URL would subscribe again.
 * https://docs.aws.amazon.com/sns/latest/dg/SendMessageToHttp.prepare.html
 */
import { snsTopic } from "../../../project/sns-topic.ts";
import { isConfirmationUrl } from "../sns/url.ts";
import { type Handshake, type Refusal, textAnswer } from "./handshake.ts";

export const sns: Handshake = {
  async event({ payload, definition, fetchUrl }) {
    const { signature } = definition;
    // Only the scheme `sns` verifies that the URL is Amazon's.
    if (signature?.scheme !== "sns" || signature.topic === undefined) return null;
    if (payload.Type === "UnsubscribeConfirmation") return textAnswer("");
    if (payload.Type !== "SubscriptionConfirmation") return null;
    const { SubscribeURL: url } = payload;
    const topic = snsTopic(signature.topic);
    if (topic === null || typeof url !== "string" || !isConfirmationUrl(url, topic, signature.topic)) {
      return refusal(403, "the SubscribeURL is not one of Amazon's for this topic");
    }
    try {
      const { status } = await fetchUrl(url);
      return status === 200 ? textAnswer("") : refusal(503, `Amazon answered with ${status}`);
    } catch {
      return refusal(503, "Amazon could not be reached");
    }
  },
};

function refusal(status: Refusal["status"], reason: string): Refusal {
  return { refused: `The subscription was not confirmed: ${reason}.`, status };
}
