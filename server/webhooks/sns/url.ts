/**
 * The URLs in messages of Amazon SNS that the server visits. They are visited only on the host of the topic's region, so
 * that a message cannot direct the server to another one.
 */
import type { SnsTopic } from "../../../project/sns-topic.ts";

/** Whether a URL names a certificate. A character outside the pattern, such as `@`, `%` or `?`, refuses it. */
export function isCertificateUrl(url: string, topic: SnsTopic): boolean {
  const start = `https://${topic.host}/`;
  return url.startsWith(start) && /^[A-Za-z0-9_-]{1,128}\.pem$/.test(url.slice(start.length));
}

/** Whether a URL confirms a subscription to the topic. */
export function isConfirmationUrl(url: string, topic: SnsTopic, topicArn: string): boolean {
  const start = `https://${topic.host}/?`;
  if (!url.startsWith(start) || url.length > 2_048 || !/^[\x21-\x7e]+$/.test(url) || url.includes("#"))
    return false;
  const query = new URLSearchParams(url.slice(start.length));
  const only = (name: string): string | null => (query.getAll(name).length === 1 ? query.get(name) : null);
  return only("Action") === "ConfirmSubscription" && only("TopicArn") === topicArn && only("Token") !== null;
}
