/** Signs messages as Amazon SNS does, with a certificate of this machine. */
import { generateKeyPairSync, sign } from "node:crypto";
import { certify, namesExtension } from "../plugin/certificate.ts";

export const topic = "arn:aws:sns:eu-west-1:123456789012:orders";
export const host = "https://sns.eu-west-1.amazonaws.com";
export const certificateUrl: string = `${host}/SimpleNotificationService-0123456789abcdef.pem`;
export const subscribeUrl: string = `${host}/?Action=ConfirmSubscription&TopicArn=${topic}&Token=2336412f37fb`;

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** A certificate of the key that signs the messages. */
export function certificate(
  names: string[] = ["sns.amazonaws.com"],
  days: [number, number] = [-1, 30],
): string {
  const extensions = names.length === 0 ? [] : [namesExtension(names)];
  return certify(7, names[0] ?? "sns.amazonaws.com", keys.publicKey, authority.privateKey, extensions, days);
}

export const issuer: string = certify(1, "test authority", authority.publicKey, authority.privateKey, [
  namesExtension(["test authority"]),
]);
const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
/** The name of the issuer with another key. */
export const otherIssuer: string = certify(1, "test authority", other.publicKey, other.privateKey, [
  namesExtension(["test authority"]),
]);
export const ecCertificate: string = certify(
  8,
  "sns.amazonaws.com",
  authority.publicKey,
  authority.privateKey,
  [namesExtension(["sns.amazonaws.com"])],
);

export type Fields = Record<string, string | null | object>;

/** A signed message. @param more - fields to add or replace before it is signed */
export function message(more: Fields = {}, version = "2"): Fields {
  const isConfirmation = /Confirmation$/.test(String(more.Type));
  const fields: Fields = {
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: topic,
    Message: '{"order":"größe"}',
    Timestamp: new Date().toISOString(),
    SignatureVersion: version,
    SigningCertURL: certificateUrl,
    ...(isConfirmation && { SubscribeURL: subscribeUrl, Token: "2336412f37fb" }),
    ...more,
  };
  const names = isConfirmation
    ? ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
    : ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"];
  const content = names
    .filter((name) => typeof fields[name] === "string")
    .map((name) => `${name}\n${fields[name]}\n`)
    .join("");
  const hash = version === "1" ? "sha1" : "sha256";
  return { ...fields, Signature: sign(hash, Buffer.from(content), keys.privateKey).toString("base64") };
}
