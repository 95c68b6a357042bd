/**
 * Verifies messages of Amazon SNS. Any customer of Amazon can send signed messages, so that a webhook names its topic. The
 * signature covers the time and the message id; a message may be a day old, because Amazon repeats it with its first time,
 * and the delivery id of a webhook is kept as long.
 */
import { verify } from "node:crypto";
import type { SignatureDefinition } from "../../../project/definition.ts";
import { snsTopic } from "../../../project/sns-topic.ts";
import type { FetchUrl } from "../fetch.ts";
import { accepted, mismatch, refused, type Verification } from "../signatures/scheme.ts";
import { SnsCertificates } from "./certificates.ts";
import { readMessage } from "./message.ts";
import { isCertificateUrl } from "./url.ts";

const maxAgeSeconds = 86_400;
const maxAheadSeconds = 300;

export class SnsVerifier {
  readonly #certificates: SnsCertificates;

  constructor(fetchUrl: FetchUrl) {
    this.#certificates = new SnsCertificates(fetchUrl);
  }

  /** Verifies the raw bytes. Never rejects. Fetches the certificate last, for a message of the topic only. */
  async verify(
    orgId: string,
    definition: SignatureDefinition,
    body: Uint8Array,
    nowSeconds: number,
  ): Promise<Verification> {
    const topic = snsTopic(definition.topic ?? "");
    if (topic === null) return refused("unusable", "The webhook's signature names no topic.");
    const message = readMessage(body);
    if (typeof message === "string") return refused("malformed", message);
    if (message.topicArn !== definition.topic) return refused("mismatch", "The message is of another topic.");
    const ageSeconds = nowSeconds - Date.parse(message.timestamp) / 1000;
    if (!(ageSeconds <= maxAgeSeconds && ageSeconds >= -maxAheadSeconds)) {
      return refused("time", `The Timestamp must be at most ${maxAgeSeconds} s old.`);
    }
    const { signingCertUrl } = message;
    if (!isCertificateUrl(signingCertUrl, topic)) {
      return refused("malformed", `The SigningCertURL must be a certificate of https://${topic.host}.`);
    }
    const result = await this.#certificates.get(orgId, signingCertUrl, topic, nowSeconds * 1000);
    if (!result.ok) return refused(result.rule, result.reason);
    const { key, validFromMs, validToMs } = result.certificate;
    const nowMs = nowSeconds * 1000;
    if (nowMs < validFromMs || nowMs > validToMs) {
      return refused("unusable", "The certificate is not valid at this time.");
    }
    return verify(message.hash, Buffer.from(message.content), key, message.signature) ? accepted : mismatch;
  }
}
