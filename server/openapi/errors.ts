/** The error responses of REST paths. */

import { type Reason, reasons } from "../errors/reasons.ts";
import { errorJson, fail } from "../errors.ts";
import type { Schema } from "./types.ts";

interface ErrorStatus {
  name: string;
  description: string;
  /** Reason and message of the example. */
  reason: Reason;
  message: string;
  headers?: readonly string[];
}

/** By HTTP status. The examples are messages of the server. */
const statuses: Readonly<Record<number, ErrorStatus>> = {
  400: {
    name: "InvalidArgument",
    description: "The request is malformed or breaks a rule, which the message names.",
    reason: "INVALID_FIELD",
    message:
      "Cannot use status: it must be one of queued, running, succeeded, failed, cancelled, not 'done'.",
  },
  401: {
    name: "Unauthenticated",
    description:
      "The API key is missing, unknown, revoked or expired; for a webhook, the signature is wrong.",
    reason: "API_KEY_INVALID",
    message: "The API key is unknown, revoked or expired.",
    headers: ["WWW-Authenticate"],
  },
  403: {
    name: "PermissionDenied",
    description: "The API key lacks the scope that the operation needs.",
    reason: "SCOPE_MISSING",
    message: "Permission denied: this key needs scope deploy.",
  },
  404: {
    name: "NotFound",
    description: "The resource does not exist, or belongs to another organization.",
    reason: "RESOURCE_NOT_FOUND",
    message: "There is no execution 'exe_01k9z3v5m8q2w4r6t8y0a1b2c3'.",
  },
  409: {
    name: "Conflict",
    description: "The state of the resource does not allow the operation, or several resources match.",
    reason: "WEBHOOK_AMBIGUOUS",
    message:
      "The slug 'github-issue' belongs to several webhooks (agent 'triage', agent 'audit'); use the path that names the agent or workflow.",
  },
  410: {
    name: "Gone",
    description: "The deployment of the webhook was deleted.",
    reason: "WEBHOOK_GONE",
    message: "The deployment of this webhook was deleted.",
  },
  413: {
    name: "ContentTooLarge",
    description: "The body exceeds the size limit.",
    reason: "BODY_TOO_LARGE",
    message: "The body exceeds the limit of 1048576 bytes (SVC_MAX_WEBHOOK_BYTES).",
  },
  415: {
    name: "UnsupportedMediaType",
    description: "The content type or the content encoding of the body is not accepted.",
    reason: "UNSUPPORTED_MEDIA_TYPE",
    message: "The Content-Type must be application/json, or another JSON type (+json), in UTF-8.",
    headers: ["Accept"],
  },
  422: {
    name: "IdempotencyKeyReused",
    description: "The idempotency key was used with another body.",
    reason: "IDEMPOTENCY_KEY_REUSED",
    message: "The idempotency key was used with another body.",
  },
  429: {
    name: "TooManyRequests",
    description: "A rate limit is exceeded. `Retry-After` has the seconds to wait.",
    reason: "RATE_LIMITED",
    message: "The webhook exceeds its limit of 50 requests per second.",
    headers: ["Retry-After"],
  },
  500: {
    name: "Internal",
    description: "The service failed to process the request.",
    reason: "INTERNAL",
    message: "The service failed to process the request.",
  },
  503: {
    name: "Unavailable",
    description: "The service cannot process requests at the moment. Retry after a pause.",
    reason: "STORE_UNAVAILABLE",
    message: "The service cannot write to its store at the moment.",
    headers: ["Retry-After"],
  },
};

const codes = [
  "canceled",
  "unknown",
  "invalid_argument",
  "deadline_exceeded",
  "not_found",
  "already_exists",
  "permission_denied",
  "resource_exhausted",
  "failed_precondition",
  "aborted",
  "out_of_range",
  "unimplemented",
  "internal",
  "unavailable",
  "data_loss",
  "unauthenticated",
];

const detailProperties: Readonly<Record<string, Schema>> = {
  type: { type: "string", description: "Type of the detail." },
  value: { type: "string", contentEncoding: "base64", description: "The detail in the binary format." },
  debug: { type: "object", description: "The detail as JSON." },
};

export const errorSchemas: Readonly<Record<string, Schema>> = {
  Error: {
    type: "object",
    description: "An error. Programs decide by the reason in `details` and show `message` to people.",
    properties: {
      code: { type: "string", enum: codes, description: "Code of the error, as in Connect and gRPC." },
      message: { type: "string", description: "One sentence: the problem, the rule and the value." },
      details: {
        type: "array",
        items: {
          anyOf: [{ $ref: "#/components/schemas/ErrorInfo" }, { $ref: "#/components/schemas/ErrorDetail" }],
        },
        description: "Details for programs: an `ErrorInfo`, and other messages of `google.rpc`.",
      },
    },
    required: ["code", "message"],
  },
  ErrorInfo: {
    type: "object",
    description: "The reason of the error.",
    properties: {
      ...detailProperties,
      type: { const: "google.rpc.ErrorInfo", description: "Type of the detail." },
      debug: {
        type: "object",
        description: "The detail as JSON.",
        properties: {
          reason: { $ref: "#/components/schemas/ErrorReason" },
          domain: { type: "string", description: "Always `svc`." },
          metadata: { type: "object", additionalProperties: { type: "string" } },
        },
        required: ["reason", "domain"],
      },
    },
    required: ["type", "value", "debug"],
  },
  ErrorReason: {
    type: "string",
    enum: Object.keys(reasons),
    description: Object.entries(reasons)
      .map(([reason, { meaning }]) => `- \`${reason}\`: ${meaning}`)
      .join("\n"),
  },
  ErrorDetail: {
    type: "object",
    description:
      "A detail, such as `google.rpc.BadRequest` with the violations of fields, or `google.rpc.RetryInfo`.",
    properties: detailProperties,
    required: ["type", "value"],
  },
  StreamError: {
    type: "object",
    description: "The last line of a stream that failed after its first line. The connection is then closed.",
    properties: { error: { $ref: "#/components/schemas/Error" } },
    required: ["error"],
  },
};

const headers: Readonly<Record<string, Schema>> = {
  "WWW-Authenticate": { description: "The authentication scheme.", schema: { type: "string" } },
  Accept: { description: "The accepted content types.", schema: { type: "string" } },
  "Retry-After": { description: "Seconds to wait before the next try.", schema: { type: "integer" } },
};

/** The reusable responses, by name. `Error` is any other error. */
export const errorResponses: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(
    Object.values(statuses).map(({ name, description, reason, message, headers: names = [] }) => [
      name,
      {
        description,
        ...(names.length > 0 && { headers: Object.fromEntries(names.map((one) => [one, headers[one]])) }),
        content: { "application/json": { schema: errorRef(), example: errorJson(fail(reason, message)) } },
      },
    ]),
  ),
  Error: {
    description: "Any other error.",
    content: {
      "application/json": {
        schema: errorRef(),
        example: errorJson(fail("INTERNAL", "The service failed to process the request.")),
      },
    },
  },
};

function errorRef(): Schema {
  return { $ref: "#/components/schemas/Error" };
}

/** References to the responses of these statuses, and to that of any other error. */
export function errorsOf(...all: readonly number[]): Record<string, Schema> {
  return {
    ...Object.fromEntries(
      all.flatMap((status) => {
        const named = statuses[status];
        return named === undefined
          ? []
          : [[String(status), { $ref: `#/components/responses/${named.name}` }]];
      }),
    ),
    default: { $ref: "#/components/responses/Error" },
  };
}
