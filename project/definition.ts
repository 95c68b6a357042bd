/**
 * The content of a project file after validation, with all defaults filled in.
 *
 * Glossary: a *project* has *targets*, which are *agents* and *workflows*. A target may have *webhooks*, each with a
 * *slug* that is unique within the target, and one *schedule*. All types here are plain JSON, for the store.
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
}

export interface TargetDefinition {
  kind: TargetKind;
  /** 1 to 64 of `A-Z a-z 0-9 _ -`, first a letter or digit; unique over agents and workflows. */
  name: string;
  displayName: string;
  /** Path of the module within the project, with `/`: for example `agents/triage.ts`. */
  module: string;
  /** Seconds per attempt; more than 0. Default 300. */
  timeoutSeconds: number;
  /** Null when a failed attempt is final. */
  retry: RetryPolicy | null;
  /** Present when the file has `retry_policy` without `enable_retry`, which has no effect. */
  hasUnusedRetryPolicy?: true;
  webhooks: WebhookDefinition[];
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
  /** Header, in lower case, that carries the sender's own delivery id. */
  idempotency: { header: string } | null;
  rateLimit: { requestsPerSecond: number; burst: number } | null;
  /** The payload is `{ headers, query, body }`, and any content type is accepted. */
  raw?: true;
  /** Accepted requests are answered with 200 and an empty body. Absent: 202 and the id of the execution. */
  respond?: 200;
  /** Requests with files in `multipart/form-data` are refused. */
  files?: "refuse";
  /** Absent: the handshake of the signature scheme, if it has one. */
  handshake?: HandshakeDefinition;
  /** Addresses and CIDR ranges that requests may come from. Absent: any. */
  allowFrom?: string[];
}

/** Pairs instead of an object, so that no parameter name can set a prototype. */
export type FieldMapping = {
  /** Path in the payload, or another source; see `parseSource`. */
  path: string;
  parameter: string;
  /** The value when the source has none. */
  default?: JsonValue;
}[];

/** Names of senders, in lower case, and four general schemes: `standard`, `hmac`, `token` and `basic`. */
export const signatureSchemes = [
  "standard",
  "svix",
  "github",
  "stripe",
  "slack",
  "shopify",
  "hmac",
  "token",
  "basic",
  "bitbucket",
  "calendly",
  "discord",
  "dropbox",
  "gitlab",
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
  /** One name of a secret of the organization, or two during rotation. */
  secrets: string[];
  /** `hmac` and `token`: header that carries the signature or token, in lower case. */
  header: string | null;
  /** `hmac`: hash algorithm. Default `sha256`. */
  algorithm: "sha1" | "sha256" | "sha384" | "sha512";
  /** `hmac`: encoding of the signature. Default `hex`. */
  encoding: "hex" | "base64" | "base64url";
  /** `hmac`: text before the signature, for example `sha256=`. Default empty. */
  prefix: string;
  /** `hmac`: header with the time in Unix seconds, in lower case. The signed content is then `<timestamp>.<body>`. */
  timestampHeader: string | null;
}

export interface ScheduleDefinition {
  kind: TargetKind;
  /** Name of the scheduled target. */
  name: string;
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
