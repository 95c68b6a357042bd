/**
 * Checks a certificate of Amazon SNS. The file holds the signing certificate, mostly without its issuers, so that the chain
 * to a root is not checked: the certificate is trusted because it came over TLS from the host of the topic's region.
 * Checked are its period of validity, its names, its key and, in a file with several certificates, each issuer.
 */
import { type KeyObject, X509Certificate } from "node:crypto";
import type { SnsTopic } from "../../../project/sns-topic.ts";

export interface SigningKey {
  key: KeyObject;
  validFromMs: number;
  validToMs: number;
}

const maxCertificates = 5;
const pem = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** The key, or one sentence that names the violated rule. */
export function readCertificate(text: string, topic: SnsTopic): SigningKey | string {
  const blocks = text.match(pem) ?? [];
  if (blocks.length < 1 || blocks.length > maxCertificates) {
    return `The file must have 1 to ${maxCertificates} certificates.`;
  }
  try {
    const chain = blocks.map((block) => new X509Certificate(block));
    return checkChain(chain, topic);
  } catch {
    return "The file must have X.509 certificates in PEM.";
  }
}

function checkChain(chain: readonly X509Certificate[], topic: SnsTopic): SigningKey | string {
  const [leaf] = chain;
  if (leaf === undefined) return "The file has no certificate.";
  for (const [at, certificate] of chain.entries()) {
    const issuer = chain[at + 1];
    if (
      issuer !== undefined &&
      !(certificate.issuer === issuer.subject && certificate.verify(issuer.publicKey))
    )
      return "Each certificate must be issued by the next one.";
  }
  if (!namesOf(leaf).some((name) => isSnsName(name, topic)))
    return "The certificate must be issued to Amazon SNS.";
  const { publicKey: key } = leaf;
  if (key.asymmetricKeyType !== "rsa") return "The certificate must have an RSA key.";
  const validFromMs = Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom)));
  const validToMs = Math.min(...chain.map(({ validTo }) => Date.parse(validTo)));
  if (Number.isNaN(validFromMs) || Number.isNaN(validToMs))
    return "The certificate must have a period of validity.";
  return { key, validFromMs, validToMs };
}

/** The DNS names; without any, the common name (RFC 6125, section 6.4.4). */
function namesOf({ subject, subjectAltName }: X509Certificate): string[] {
  const names = [...(subjectAltName ?? "").matchAll(/(?:^|, )DNS:([^,]+)/g)].map(([, name = ""]) => name);
  if (names.length > 0) return names;
  return [/^CN=(.+)$/m.exec(subject)?.[1] ?? ""];
}

/** The names that Amazon uses: one for most regions, and regional ones. */
function isSnsName(name: string, { host, region }: SnsTopic): boolean {
  const domain = host.slice(host.indexOf("amazonaws"));
  const regional = [host, `sns-signing.${region}.${domain}`, `sns-${region}.${domain}`];
  const isGovernment = region.startsWith("us-gov-") && name === `sns-us-gov-west-1.${domain}`;
  return name === `sns.${domain}` || regional.includes(name) || isGovernment;
}
