import { type SignatureDefinition, type SignatureScheme, signatureSchemes } from "../definition.ts";
import { readChoice, readHeaderName, readName } from "./scalars.ts";
import type { Fields, View } from "./view.ts";

const keys = ["scheme", "secret", "header", "algorithm", "encoding", "prefix", "timestamp_header"] as const;
type Key = (typeof keys)[number];

/** Keys that only some schemes use. With other schemes they would have no effect, so they are rejected. */
const schemesOf: Partial<Record<Key, readonly SignatureScheme[]>> = {
  header: ["hmac", "token"],
  algorithm: ["hmac"],
  encoding: ["hmac"],
  prefix: ["hmac"],
  timestamp_header: ["hmac"],
};

/** Reads `signature` of a webhook. */
export function readSignature(view: View): SignatureDefinition | null {
  const fields = view.fields(keys);
  if (fields === null) return null;
  const schemeView = fields.require("scheme");
  const scheme = schemeView === null ? null : readChoice(schemeView, signatureSchemes);
  const secretView = fields.require("secret");
  const secrets = secretView === null ? null : readSecrets(secretView);
  if (scheme === null) return null;
  for (const [key, schemes] of Object.entries(schemesOf)) {
    if (schemes.includes(scheme)) continue;
    fields
      .get(key as Key)
      ?.fail(`${view.path}.${key} is for the scheme ${schemes.join(" and ")}, not ${scheme}`);
  }
  const header = schemesOf.header?.includes(scheme) ? readHeader(fields) : null;
  const algorithmView = fields.get("algorithm");
  const algorithms = ["sha1", "sha256", "sha384", "sha512"] as const;
  const algorithm = algorithmView === null ? "sha256" : readChoice(algorithmView, algorithms);
  const encodingView = fields.get("encoding");
  const encodings = ["hex", "base64", "base64url"] as const;
  const encoding = encodingView === null ? "hex" : readChoice(encodingView, encodings);
  const prefixView = fields.get("prefix");
  const prefix = prefixView === null ? "" : readPrefix(prefixView);
  const timestampView = fields.get("timestamp_header");
  const timestampHeader = timestampView === null ? null : readHeaderName(timestampView);
  if (secrets === null || algorithm === null || encoding === null || prefix === null) return null;
  return { scheme, secrets, header, algorithm, encoding, prefix, timestampHeader };
}

function readHeader(fields: Fields<Key>): string | null {
  const view = fields.require("header");
  return view === null ? null : readHeaderName(view);
}

/** A name, or a list of one or two names. */
function readSecrets(view: View): string[] | null {
  if (!Array.isArray(view.value)) {
    const name = readName(view);
    return name === null ? null : [name];
  }
  const names: string[] = [];
  for (const item of view.items() ?? []) {
    const name = readName(item);
    if (name !== null) names.push(name);
  }
  if (view.value.length < 1 || view.value.length > 2) {
    return view.fail(`${view.path} must name one secret, or two during rotation, not ${view.value.length}`);
  }
  return names.length === view.value.length ? names : null;
}

/** Part of a header value: printable ASCII, which may be empty or end with white space. */
function readPrefix(view: View): string | null {
  const { value } = view;
  if (typeof value === "string" && /^[\x20-\x7e]{0,64}$/.test(value)) return value;
  return view.fail(`${view.path} must be at most 64 characters of printable ASCII, not ${view.description}`);
}
