import { parseRange } from "../address-range.ts";
import type { FieldMapping, WebhookDefinition } from "../definition.ts";
import { isJson, isJsonObject, type JsonValue } from "../json.ts";
import { parseSource } from "../mapping-source.ts";
import { parsePath } from "../path.ts";
import { quoted } from "../problem.ts";
import { readHandshake } from "./handshake.ts";
import { readBoolean, readChoice, readName, readNumber, readText } from "./scalars.ts";
import { readSignature } from "./signature.ts";
import type { View } from "./view.ts";
import { readFilter } from "./webhook/filter.ts";
import { readIdempotency } from "./webhook/idempotency.ts";
import { readMethods } from "./webhook/methods.ts";
import { readRespond } from "./webhook/respond.ts";

/** Reads `webhooks` of one target. */
export function readWebhooks(view: View | null): WebhookDefinition[] {
  const webhooks: WebhookDefinition[] = [];
  const slugs = new Set<string>();
  for (const item of view?.items() ?? []) {
    const webhook = readWebhook(item, slugs);
    if (webhook !== null) webhooks.push(webhook);
  }
  return webhooks;
}

function readWebhook(view: View, slugs: Set<string>): WebhookDefinition | null {
  const fields = view.fields([
    "slug",
    "field_mapping",
    "signature",
    "idempotency",
    "rate_limit",
    "handshake",
    "respond",
    "raw",
    "files",
    "allow_from",
    "events",
    "event",
    "when",
    "methods",
    "keep_rejected",
  ]);
  if (fields === null) return null;
  const slugView = fields.require("slug");
  const slug = slugView === null ? null : readName(slugView);
  const fieldMapping = readMapping(fields.get("field_mapping"));
  const signatureView = fields.get("signature");
  const signature = signatureView === null ? null : readSignature(signatureView);
  const idempotency = readIdempotency(fields.get("idempotency"), signature);
  const rateView = fields.get("rate_limit");
  const rateLimit = rateView === null ? null : readRateLimit(rateView);
  const handshake = readHandshake(fields.get("handshake"), signatureView, signature);
  const respond = readRespond(fields.get("respond"));
  const rawView = fields.get("raw");
  const raw = rawView === null ? false : readBoolean(rawView);
  const filesView = fields.get("files");
  const files = filesView === null ? "keep" : readChoice(filesView, ["keep", "refuse"] as const);
  const allowView = fields.get("allow_from");
  const allowFrom = allowView === null ? null : readRanges(allowView);
  const methods = readMethods(fields.get("methods"), signature);
  const keepRejected = readKeepRejected(fields.get("keep_rejected"), signatureView);
  const [events, event, when] = [fields.get("events"), fields.get("event"), fields.get("when")];
  const filter = readFilter({ events, event, when }, signature);
  if (slugView === null || slug === null) return null;
  if (slugs.has(slug)) return slugView.fail(`two webhooks of one target have the slug "${slug}"`);
  slugs.add(slug);
  return {
    slug,
    fieldMapping,
    signature,
    idempotency,
    rateLimit,
    ...(handshake !== null && { handshake }),
    ...(respond !== null && { respond }),
    ...(raw === true && { raw }),
    ...(files === "refuse" && { files }),
    ...(allowFrom !== null && { allowFrom }),
    ...(methods !== null && { methods }),
    ...(keepRejected && { keepRejected }),
    ...filter,
  };
}

function readKeepRejected(view: View | null, signatureView: View | null): boolean {
  const keep = view === null ? false : readBoolean(view);
  if (view !== null && keep === true && signatureView === null) {
    view.fail(`${view.path} has no effect without a signature: there are no invalid ones to keep`);
  }
  return keep === true;
}

/** IP addresses and CIDR ranges. */
function readRanges(view: View): string[] | null {
  const ranges: string[] = [];
  const items = view.items() ?? [];
  for (const item of items) {
    const text = readText(item);
    if (text === null) continue;
    if (parseRange(text) === null)
      item.fail(`${item.path} must be an IP address or a CIDR range, not ${quoted(text)}`);
    else ranges.push(text);
  }
  if (items.length === 0) return view.fail(`${view.path} must list at least one address`);
  return ranges.length === items.length ? ranges : null;
}

function readMapping(view: View | null): FieldMapping {
  const mapping: FieldMapping = [];
  const parameters = new Map<string, string>();
  for (const { key: path, at, view: target } of view?.entries() ?? []) {
    try {
      if (parseSource(path) === null) parsePath(path);
    } catch (error) {
      at.fail((error as Error).message.replace(/\.$/, ""));
      continue;
    }
    const entry = readEntry(target);
    if (entry === null) continue;
    const { parameter } = entry;
    const earlier = parameters.get(parameter);
    if (earlier !== undefined) {
      target.fail(`"${earlier}" and "${path}" are both mapped to the parameter "${parameter}"`);
      continue;
    }
    parameters.set(parameter, path);
    mapping.push({ path, ...entry });
  }
  return mapping;
}

/** A parameter, or a map of the parameter and its default. */
function readEntry(view: View): { parameter: string; default?: JsonValue } | null {
  if (!isJsonObject(view.value)) {
    const parameter = readText(view);
    return parameter === null ? null : { parameter };
  }
  const fields = view.fields(["parameter", "default"]);
  const parameterView = fields?.require("parameter") ?? null;
  const defaultView = fields?.get("default") ?? null;
  const parameter = parameterView === null ? null : readText(parameterView);
  const value = defaultView === null ? undefined : readJson(defaultView);
  if (parameter === null || (defaultView !== null && value === undefined)) return null;
  return value === undefined ? { parameter } : { parameter, default: value };
}

/** A value that JSON represents. Undefined after a problem. */
function readJson(view: View): JsonValue | undefined {
  if (isJson(view.value)) return view.value;
  view.fail(`${view.path} must be a JSON value`);
  return undefined;
}

function readRateLimit(view: View): { requestsPerSecond: number; burst: number } | null {
  const fields = view.fields(["requests_per_second", "burst"]);
  if (fields === null) return null;
  const rateView = fields.require("requests_per_second");
  const burstView = fields.get("burst");
  const max = 1_000_000;
  const requestsPerSecond = rateView === null ? null : readNumber(rateView, { min: 0, above: true, max });
  const burst = burstView === null ? null : readNumber(burstView, { min: 1, max, whole: true });
  if (requestsPerSecond === null) return null;
  // Twice the rate, as in the server's own default of 50 per second and a burst of 100.
  return { requestsPerSecond, burst: burst ?? Math.max(1, Math.ceil(requestsPerSecond * 2)) };
}
