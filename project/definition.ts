/**
 * The content of a project file after validation, with all defaults filled in.
 *
 * Glossary: a *project* has *targets*, which are *agents* and *workflows*. A target may have *webhooks*, each with a
 * *slug* that is unique within the target, and *schedules*. All types here are plain JSON, for the store.
 */
import type { JsonObject, JsonValue } from "./json.ts";

export type TargetKind = "agent" | "workflow";

export interface ProjectDefinition {
  name: string;
  version: string;
  agents: TargetDefinition[];
  workflows: TargetDefinition[];
  schedules: ScheduleDefinition[];
  /**
   * Patterns of the hosts that runners may reach, in lower case; see `parseHostPattern`. Empty allows none, null adds no
   * restriction to the operator's.
   */
  network: string[] | null;
  /** Called when an execution has failed for good. Absent without one. */
  onFailure?: FailureHook;
  /** Variables of all environments. Absent without any. */
  vars?: Vars;
  /** Settings of single environments, by name. Absent without any. */
  environments?: Record<string, EnvironmentDefinition>;
}

/** By name, as the names of secrets. */
export type Vars = Record<string, string | number | boolean>;

export interface EnvironmentDefinition {
  /** Replace those of the project. */
  vars: Vars;
}

/** An agent or workflow of the project, or a webhook whose requests the secret with this name signs. */
export type FailureHook = { kind: TargetKind; name: string } | { url: string; secret: string };

export interface TargetDefinition {
  kind: TargetKind;
  /** 1 to 64 of `A-Z a-z 0-9 _ -`, first a letter or digit; unique over agents and workflows. */
  name: string;
  displayName: string;
  /** For people and models: 1 to 1,024 characters. Absent without one. */
  description?: string;
  /** Offered to models as a tool. */
  exposeAsTool?: true;
  /** Path of the module within the project, with `/`: for example `agents/triage.ts`. */
  module: string;
  /** Seconds per attempt; more than 0. Default 300. */
  timeoutSeconds: number;
  /** Null when a failed attempt is final. */
  retry: RetryPolicy | null;
  /** Present when the file has `retry_policy` without `enable_retry`, which has no effect. */
  hasUnusedRetryPolicy?: true;
  webhooks: WebhookDefinition[];
  /** Its failures do not call the failure hook of the project. */
  onFailure?: false;
}

export interface RetryPolicy {
  /** Attempts after the first. Default 3. */
  maxRetries: number;
  /** `exponential` has full jitter. Default `exponential`. */
  strategy: "exponential" | "fixed";
  /** Default 1; fractions allowed. */
  initialDelaySeconds: number;
  /** Default 300; fractions allowed. */
  maxDelaySeconds: number;
}

export interface WebhookDefinition {
  slug: string;
  /** In the order of the file; empty when the payload is the input. */
  fieldMapping: FieldMapping;
  signature: SignatureDefinition | null;
  idempotency: IdempotencyDefinition | null;
  rateLimit: { requestsPerSecond: number; burst: number } | null;
  /** The payload is `{ headers, query, body }`, and any content type is accepted. */
  raw?: true;
  /**
   * 200: accepted requests are answered with an empty body. A map: with the result of the execution. Absent: 202 and the
   * id of the execution.
   */
  respond?: 200 | OutputResponse;
  /** Refuses requests with files in `multipart/form-data`. */
  files?: "refuse";
  /** How the webhook answers the URL check of a sender. Absent: as the signature scheme defines, if it does. */
  handshake?: HandshakeDefinition;
  /** The addresses and CIDR ranges of the allowed senders. Absent: all senders are allowed. */
  allowFrom?: string[];
  /** The allowed HTTP methods. The payload of a GET request is its query. Absent: only POST. */
  methods?: WebhookMethod[];
  /** Keeps the payloads of requests with invalid signatures, so that they can be redelivered. */
  keepRejected?: true;
  /** Patterns of the accepted event names. Requests with other events are ignored. Absent: all events are accepted. */
  events?: string[];
  /** Where the request has the parts of its event name, as in a field mapping. Absent: as the signature scheme defines. */
  event?: string[];
  /** Requests that violate a condition are ignored. */
  when?: Condition[];
}

export type WebhookMethod = "GET" | "POST";

/** The response is the one that the code sets with `ctx.respond`, otherwise the output as JSON. */
export interface OutputResponse {
  kind: "output";
  /** Time to wait for it, in seconds. Default 10, at most 60. */
  timeoutSeconds: number;
  /** After this time, 200 and an empty body. Absent: 202 and the id of the execution. */
  late?: 200;
}

export type Scalar = string | number | boolean | null;

/** A condition on a value of a request. All given rules must hold. */
export interface Condition {
  /** The value, named as in a field mapping. */
  path: string;
  exists?: boolean;
  /** The value exists and is one of these. */
  in?: Scalar[];
  /** The value does not exist or is none of these. */
  notIn?: Scalar[];
}

export interface IdempotencyDefinition {
  /** Header, in lower case, that carries the sender's own delivery id. Null for the one of the signature scheme. */
  header: string | null;
  /** A repeat of a key whose execution failed or was cancelled gets the first result. Absent: it runs again. */
  afterFailure?: "replay";
}

/** Pairs instead of an object, so that no parameter name can set a prototype. */
export type FieldMapping = {
  /** Path in the payload, or another source; see `parseSource`. */
  path: string;
  parameter: string;
  /** The value when the source has none. */
  default?: JsonValue;
}[];

/** Names of senders, in lower case, and five general schemes: `standard`, `hmac`, `ed25519`, `token` and `basic`. */
export const signatureSchemes = [
  "standard",
  "svix",
  "github",
  "stripe",
  "slack",
  "shopify",
  "hmac",
  "ed25519",
  "token",
  "basic",
  "asana",
  "bitbucket",
  "calendly",
  "discord",
  "dropbox",
  "gitlab",
  "google",
  "hubspot",
  "jira",
  "lemonsqueezy",
  "line",
  "linear",
  "mailgun",
  "meta",
  "microsoft",
  "paddle",
  "sendgrid",
  "sns",
  "square",
  "trello",
  "twilio",
  "typeform",
  "zoom",
] as const;
export type SignatureScheme = (typeof signatureSchemes)[number];

/** Exchanges by which senders check a URL before they send webhooks. */
export const handshakeKinds = [
  "slack",
  "meta",
  "zoom",
  "microsoft",
  "discord",
  "dropbox",
  "trello",
  "cloudevents",
  "eventgrid",
  "websub",
  "asana",
  "sns",
] as const;
export type HandshakeKind = (typeof handshakeKinds)[number];

export interface HandshakeDefinition {
  kind: HandshakeKind | "none";
  /** `meta`: name of the secret that holds the verify token. */
  secret: string | null;
}

/** The handshake of a sender with its own signature scheme. */
export function impliedHandshake(scheme: SignatureScheme): HandshakeKind | null {
  return handshakeKinds.find((kind) => kind === scheme) ?? null;
}

export interface SignatureDefinition {
  scheme: SignatureScheme;
  /** One name of a secret of the organization, or two during rotation. `sns`: empty. */
  secrets: string[];
  /** `hmac`, `ed25519` and `token`: header that carries the signature or token, in lower case. */
  header: string | null;
  /** `hmac`: hash algorithm. Default `sha256`. */
  algorithm: "sha1" | "sha256" | "sha384" | "sha512";
  /** `hmac` and `ed25519`: encoding of the signature. Default `hex`. */
  encoding: "hex" | "base64" | "base64url";
  /** `hmac`: text before the signature, for example `sha256=`. Default empty. */
  prefix: string;
  /** `hmac` and `ed25519`: header with the time in Unix seconds, in lower case. */
  timestampHeader: string | null;
  /**
   * `hmac` and `ed25519`: the signed content, a text with `{body}` once, and `{timestamp}` and `{url}`. Default
   * `{timestamp}.{body}` with a timestamp header, otherwise `{body}`.
   */
  content?: string;
  /** `hmac` and `ed25519`: seconds that the signed time may differ from the server's. Default 300. */
  toleranceSeconds?: number;
  /** `sns`: ARN of the topic. */
  topic?: string;
}

export interface ScheduleDefinition {
  kind: TargetKind;
  /** Name of the target, or of one of several schedules of a target: `<target>.<name>`. */
  name: string;
  /** The target, when it is not the name. */
  target?: string;
  /** Five fields. */
  cron: string;
  /** IANA name. Default `UTC`. */
  timezone: string;
  enabled: boolean;
  input: JsonObject;
  /** The treatment of a tick while the previous run has not finished. Default `skip`. */
  overlap: "skip" | "queue" | "allow";
  /** The age up to which a missed tick is run late, in seconds. Default 0: it is recorded as missed. */
  catchUpSeconds: number;
}

/** The name of the target that a schedule runs. */
export function scheduledTarget({ name, target }: Pick<ScheduleDefinition, "name" | "target">): string {
  return target ?? name;
}
