/**
 * Twilio: the base64 HMAC-SHA1 of the URL and, for a form, of its fields, sorted, as `<name><value>` without separators. For
 * other bodies the URL carries `bodySHA256`. Twilio signs the URL with or without its port.
 * https://www.twilio.com/docs/usage/security#validating-requests
 */
import { createHash } from "node:crypto";
import { sameBytes, someHmacMatches } from "../../digest.ts";
import { header, idOf } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";
import { accepted, malformed, mismatch, missing, refused } from "../../scheme.ts";

const name = "x-twilio-signature";
const maxFields = 1_000;

export const twilio: Scheme = {
  signsDeliveryId: false,
  verify({ secrets, headers, body, url }) {
    const signature = header(headers, name);
    if (signature === null) return missing(name);
    if (!/^[A-Za-z0-9+/]{27}=$/.test(signature)) return malformed(name, "28 characters of base64");
    const isForm = /^application\/x-www-form-urlencoded *(?:;|$)/i.test(headers["content-type"] ?? "");
    const fields = isForm ? sortedFields(body) : "";
    if (fields === null) return refused("malformed", `A form must have at most ${maxFields} fields.`);
    if (!isForm && body.length > 0 && !hashMatches(url, body)) return mismatch;
    const signs = [withPort(url), withoutPort(url)].some((before) =>
      someHmacMatches(
        {
          algorithm: "sha1",
          encoding: "base64",
          keys: secrets,
          keyEncoding: "utf8",
          before,
          body: Buffer.from(fields),
        },
        [signature],
      ),
    );
    return signs ? accepted : mismatch;
  },
  deliveryId: (headers) => idOf(header(headers, "i-twilio-idempotency-token")),
};

/** The fields by name; the values of a repeated name sorted and without duplicates. Null for too many. */
function sortedFields(body: Uint8Array): string | null {
  const text = Buffer.from(body).toString();
  if (text.split("&", maxFields + 1).length > maxFields) return null;
  const values = new Map<string, Set<string>>();
  for (const [key, value] of new URLSearchParams(text)) {
    const same = values.get(key);
    if (same === undefined) values.set(key, new Set([value]));
    else same.add(value);
  }
  const names = [...values.keys()].sort();
  return names
    .map((key) =>
      [...(values.get(key) ?? [])]
        .sort()
        .map((value) => key + value)
        .join(""),
    )
    .join("");
}

function hashMatches(url: string, body: Uint8Array): boolean {
  const given = new URL(url).searchParams.get("bodySHA256");
  if (given === null) return false;
  return sameBytes(Buffer.from(given), Buffer.from(createHash("sha256").update(body).digest("hex")));
}

const authority = /^(https?:\/\/)((?:\[[^\]]*\])|[^/:?]*)(:[0-9]+)?/;

function withPort(url: string): string {
  return url.replace(authority, (_all, scheme: string, host: string, port = defaultPort(scheme)) => {
    return `${scheme}${host}${port}`;
  });
}

function withoutPort(url: string): string {
  return url.replace(authority, "$1$2");
}

function defaultPort(scheme: string): string {
  return scheme === "https://" ? ":443" : ":80";
}
