/**
 * The settings of a webhook as texts by their key in the project file, for people: a plan compares them. The mapping and the
 * scheme of the signature are shown elsewhere. Defaults are left out.
 */
import type { Condition, SignatureDefinition, WebhookDefinition } from "../definition.ts";

/** Every member must be listed, so that a new option is not forgotten. */
const textOf: {
  [Key in Exclude<keyof WebhookDefinition, "slug">]-?: (
    value: NonNullable<WebhookDefinition[Key]>,
  ) => Record<string, string>;
} = {
  fieldMapping: (mapping) =>
    Object.fromEntries(
      mapping.flatMap(({ path, default: value }) =>
        value === undefined ? [] : [[`default of ${path}`, JSON.stringify(value)]],
      ),
    ),
  signature: signatureSettings,
  idempotency: ({ header, afterFailure }) => ({
    idempotency: [
      ...(header === null ? [] : [`header ${header}`]),
      ...(afterFailure === undefined ? [] : [`after_failure ${afterFailure}`]),
    ].join(", "),
  }),
  rateLimit: ({ requestsPerSecond, burst }) => ({ rate_limit: `${requestsPerSecond}/s, burst ${burst}` }),
  raw: (raw) => ({ raw: String(raw) }),
  respond: (respond) => ({
    respond:
      respond === 200
        ? "200"
        : `${respond.kind} within ${respond.timeoutSeconds} s${respond.late === 200 ? ", late 200" : ""}`,
  }),
  files: (files) => ({ files }),
  handshake: ({ kind, secret }) => ({ handshake: secret === null ? kind : `${kind}, secret ${secret}` }),
  allowFrom: (ranges) => ({ allow_from: ranges.join(", ") }),
  methods: (methods) => ({ methods: methods.join(", ") }),
  keepRejected: (keep) => ({ keep_rejected: String(keep) }),
  events: (events) => ({ events: events.join(", ") }),
  event: (event) => ({ event: event.join(", ") }),
  when: (conditions) =>
    Object.fromEntries(conditions.map((condition) => [`when ${condition.path}`, conditionText(condition)])),
};

export function webhookSettings(definition: WebhookDefinition): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const key of Object.keys(textOf) as (keyof typeof textOf)[]) {
    const value = definition[key];
    // The type of each value is that of its reader, which TypeScript does not relate.
    if (value !== undefined && value !== null) Object.assign(settings, textOf[key](value as never));
  }
  return settings;
}

/** The names of secrets, and the options that differ from the defaults. */
function signatureSettings(signature: SignatureDefinition): Record<string, string> {
  const { scheme, secrets, algorithm, encoding, prefix, ...others } = signature;
  const options = {
    ...others,
    algorithm: algorithm === "sha256" ? null : algorithm,
    encoding: encoding === "hex" ? null : encoding,
    prefix: prefix === "" ? null : prefix,
  };
  const entries = Object.entries(options).flatMap(([name, value]): [string, string][] =>
    value === null || value === undefined
      ? []
      : [[`signature ${snakeCase(name)}`, typeof value === "string" ? value : JSON.stringify(value)]],
  );
  if (secrets.length > 0) entries.unshift(["signature secret", secrets.join(", ")]);
  return Object.fromEntries(entries);
}

function conditionText({ exists, in: allowed, notIn }: Condition): string {
  return [
    ...(allowed === undefined ? [] : [allowed.map((value) => JSON.stringify(value)).join(" or ")]),
    ...(exists === undefined ? [] : [exists ? "exists" : "does not exist"]),
    ...(notIn === undefined ? [] : [`not ${notIn.map((value) => JSON.stringify(value)).join(" or ")}`]),
  ].join(", ");
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
