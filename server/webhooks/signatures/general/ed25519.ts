/**
 * `ed25519`: a configured header carries the Ed25519 signature (RFC 8032) of the body, or of configured content. The secret
 * is the sender's public key: 32 bytes in hex or base64, or SubjectPublicKeyInfo (RFC 8410) in base64 or PEM.
 */
import { signedContent } from "../content.ts";
import { isEd25519 } from "../ed25519.ts";
import { header, idOf, refuseTime } from "../request.ts";
import type { Scheme } from "../scheme.ts";
import { accepted, malformed, mismatch, missing, refused } from "../scheme.ts";

export const ed25519: Scheme = {
  signsDeliveryId: false,
  verify({ definition, secrets, headers, body, nowSeconds, url }) {
    const { header: name, prefix, timestampHeader, toleranceSeconds, encoding } = definition;
    if (name === null) return refused("unusable", "The webhook's signature names no header.");
    const keys = secrets.flatMap((secret) => publicKeyOf(secret) ?? []);
    if (keys.length === 0) return refused("unusable", "The webhook's secret must be an Ed25519 public key.");
    const text = header(headers, name);
    if (text === null) return missing(name);
    const signature = text.startsWith(prefix) ? decoded(text.slice(prefix.length), encoding) : null;
    if (signature === null) return malformed(name, `64 bytes of ${encoding} after its prefix`);
    const seconds = timestampHeader === null ? null : header(headers, timestampHeader);
    if (timestampHeader !== null) {
      const untimely = refuseTime(seconds, timestampHeader, nowSeconds, toleranceSeconds);
      if (untimely !== null) return untimely;
    }
    const { before, after = "" } = signedContent(definition, seconds, url);
    const message = Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
    return keys.some((key) => isEd25519(key, message, signature)) ? accepted : mismatch;
  },
  deliveryId: () => idOf(null),
};

/** Null unless the text is the only encoding of 64 bytes, apart from the letter case of hex and the padding of base64. */
function decoded(text: string, encoding: "hex" | "base64" | "base64url"): Buffer | null {
  if (encoding === "hex") return /^[0-9a-fA-F]{128}$/.test(text) ? Buffer.from(text, "hex") : null;
  const bytes = Buffer.from(text, encoding);
  const bare = bytes.toString(encoding).replace(/=+$/, "");
  return bytes.length === 64 && text.replace(/={1,2}$/, "") === bare ? bytes : null;
}

/** The bytes before the key in SubjectPublicKeyInfo. */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** 32 bytes; null for another text. */
function publicKeyOf(secret: string): Buffer | null {
  const text = secret.replace(/-----(?:BEGIN|END) PUBLIC KEY-----/g, "").replace(/\s+/g, "");
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, "hex");
  if (!/^[A-Za-z0-9+/]{43,60}={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === 32) return bytes;
  const isSpki = bytes.length === 44 && bytes.subarray(0, spkiPrefix.length).equals(spkiPrefix);
  return isSpki ? bytes.subarray(spkiPrefix.length) : null;
}
