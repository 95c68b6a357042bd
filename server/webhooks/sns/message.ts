/**
 * Messages of Amazon SNS over HTTPS, and their signed content.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 * https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
 */
import type { JsonObject } from "../../../project/json.ts";
import { parsedObject } from "../signatures/request.ts";

export interface SnsMessage {
  type: "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  topicArn: string;
  /** RFC 3339. */
  timestamp: string;
  hash: "sha1" | "sha256";
  signature: Uint8Array;
  signingCertUrl: string;
  /** Signed names and values, each followed by a line break. */
  content: string;
}

const confirmation = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

/** The signed fields in the order of the content. */
const fieldsOf: Record<SnsMessage["type"], readonly string[]> = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: confirmation,
  UnsubscribeConfirmation: confirmation,
};

const hashes: ReadonlyMap<string, SnsMessage["hash"]> = new Map([
  ["1", "sha1"],
  ["2", "sha256"],
]);

/** The message, or one sentence that names the violated rule. */
export function readMessage(body: Uint8Array): SnsMessage | string {
  const fields = parsedObject(body);
  if (fields === null) return "The body must be a JSON object.";
  const { Type: type } = fields;
  if (!isType(type)) return "The Type must be a type of Amazon SNS.";
  const content = contentOf(fields, fieldsOf[type]);
  if (content === null) return "The body must have the fields of its Type, as text.";
  const hash = hashes.get(textOf(fields.SignatureVersion));
  if (hash === undefined) return "The SignatureVersion must be 1 or 2.";
  const signature = signatureOf(fields.Signature);
  if (signature === null) return "The Signature must be base64 of 256 to 512 bytes.";
  const { TopicArn, Timestamp, SigningCertURL } = fields;
  const rest = {
    topicArn: textOf(TopicArn),
    timestamp: textOf(Timestamp),
    signingCertUrl: textOf(SigningCertURL),
  };
  return { type, hash, signature, content, ...rest };
}

function isType(type: unknown): type is SnsMessage["type"] {
  return typeof type === "string" && Object.hasOwn(fieldsOf, type);
}

/** Null when a field is missing. Only `Subject` is optional. */
function contentOf(fields: JsonObject, names: readonly string[]): string | null {
  let content = "";
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (name === "Subject" && (value === undefined || value === null)) continue;
    if (typeof value !== "string") return null;
    content += `${name}\n${value}\n`;
  }
  return content;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function signatureOf(value: unknown): Uint8Array | null {
  if (typeof value !== "string" || value.length > 700) return null;
  const bytes = Buffer.from(value, "base64");
  // The text is compared, so that unused bits of base64 do not give one signature several valid texts.
  return bytes.length >= 256 && bytes.length <= 512 && bytes.toString("base64") === value ? bytes : null;
}
