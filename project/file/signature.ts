import { type SignatureDefinition, type SignatureScheme, signatureSchemes } from "../definition.ts";
import { quoted } from "../problem.ts";
import { snsTopic } from "../sns-topic.ts";
import { readChoice, readHeaderName, readName, readNumber, readText } from "./scalars.ts";
import type { Fields, View } from "./view.ts";

const keys = [
  "scheme",
  "secret",
  "header",
  "algorithm",
  "encoding",
  "prefix",
  "timestamp_header",
  "content",
  "tolerance",
  "topic",
] as const;
type Key = (typeof keys)[number];

/** Keys that only some schemes use. With other schemes they would have no effect, so they are rejected. */
const schemesOf: Partial<Record<Key, readonly SignatureScheme[]>> = {
  header: ["hmac", "ed25519", "token"],
  algorithm: ["hmac"],
  encoding: ["hmac", "ed25519"],
  prefix: ["hmac", "ed25519"],
  timestamp_header: ["hmac", "ed25519"],
  content: ["hmac", "ed25519"],
  tolerance: ["hmac", "ed25519"],
  topic: ["sns"],
};

/** Reads `signature` of a webhook. */
export function readSignature(view: View): SignatureDefinition | null {
  const fields = view.fields(keys);
  if (fields === null) return null;
  const schemeView = fields.require("scheme");
  const scheme = schemeView === null ? null : readChoice(schemeView, signatureSchemes);
  const secrets = scheme === "sns" ? readNoSecret(fields) : readSecret(fields);
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
  const contentView = fields.get("content");
  const content = contentView === null ? null : readContent(contentView, timestampView !== null);
  const toleranceView = fields.get("tolerance");
  const toleranceSeconds =
    toleranceView === null ? null : readNumber(toleranceView, { min: 1, max: 86_400, whole: true });
  const topic = scheme === "sns" ? readTopic(fields) : null;
  if (secrets === null || algorithm === null || encoding === null || prefix === null) return null;
  return {
    scheme,
    secrets,
    header,
    algorithm,
    encoding,
    prefix,
    timestampHeader,
    ...(content !== null && { content }),
    ...(toleranceSeconds !== null && { toleranceSeconds }),
    ...(topic !== null && { topic }),
  };
}

function readSecret(fields: Fields<Key>): string[] | null {
  const view = fields.require("secret");
  return view === null ? null : readSecrets(view);
}

function readNoSecret(fields: Fields<Key>): string[] {
  fields.get("secret")?.fail("the scheme sns has no secret: it verifies a certificate of Amazon");
  return [];
}

/** A text with `{body}` once, and `{timestamp}` if the time is sent. */
function readContent(view: View, hasTime: boolean): string | null {
  const { value } = view;
  if (typeof value !== "string" || value.length > 256) {
    return view.fail(`${view.path} must be a text of at most 256 characters, not ${view.description}`);
  }
  const names = [...value.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  const unknown = names.find((name) => !["body", "timestamp", "url"].includes(name));
  if (unknown !== undefined) {
    return view.fail(
      `${view.path} may have the placeholders {body}, {timestamp} and {url}, not {${unknown}}`,
    );
  }
  if (names.filter((name) => name === "body").length !== 1) {
    return view.fail(`${view.path} must have the placeholder {body} once`);
  }
  if (names.includes("timestamp") !== hasTime) {
    const rule = hasTime
      ? "must have the placeholder {timestamp}, or the time is not signed"
      : "needs timestamp_header for {timestamp}";
    return view.fail(`${view.path} ${rule}`);
  }
  return value;
}

function readTopic(fields: Fields<Key>): string | null {
  const view = fields.require("topic");
  const text = view === null ? null : readText(view);
  if (view === null || text === null || snsTopic(text) !== null) return text;
  return view.fail(
    `${view.path} must be the ARN of a topic, such as arn:aws:sns:us-east-1:123456789012:orders, not ${quoted(text)}`,
  );
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
