/** Reasons of errors: authentication and permission. */
import { Code } from "@connectrpc/connect";
import type { ReasonRow } from "./row.ts";

export type AccessReason =
  | "API_KEY_MISSING"
  | "API_KEY_INVALID"
  | "SCOPE_MISSING"
  | "SIGNATURE_INVALID"
  | "SIGNATURE_REQUIRED"
  | "WEBHOOK_REQUEST_REQUIRED"
  | "SENDER_NOT_ALLOWED"
  | "HANDSHAKE_REFUSED"
  | "HOST_UNKNOWN"
  | "ORIGIN_NOT_ALLOWED"
  | "SESSION_INVALID"
  | "URL_NOT_SIGNED"
  | "URL_EXPIRED";

export const access: Readonly<Record<AccessReason, ReasonRow>> = {
  API_KEY_MISSING: {
    code: Code.Unauthenticated,
    meaning: "The request has no API key.",
    advice: "Send the header `Authorization: Bearer <key>`.",
  },
  API_KEY_INVALID: {
    code: Code.Unauthenticated,
    meaning: "The API key is unknown, revoked or expired.",
    advice: "Use another key, or create one with `svc keys create`.",
  },
  SCOPE_MISSING: {
    code: Code.PermissionDenied,
    meaning: "The API key lacks the scope `required_scope`.",
    advice: "Use a key with this scope or a wider one.",
  },
  SIGNATURE_INVALID: {
    code: Code.Unauthenticated,
    meaning: "The signature of a webhook request is missing, wrong or too old.",
    advice: "Check the secret and the clock of the sender.",
  },
  SIGNATURE_REQUIRED: {
    code: Code.Unauthenticated,
    meaning: "The webhook is signed, and RPC calls have no raw bytes to check.",
    advice: "Send a signed POST to the URL of the webhook.",
  },
  WEBHOOK_REQUEST_REQUIRED: {
    code: Code.FailedPrecondition,
    meaning:
      "The webhook takes no POST, takes the body as it was sent, or filters by headers or the query. RPC calls have none of them.",
    advice: "Send a request to the URL of the webhook.",
  },
  SENDER_NOT_ALLOWED: {
    code: Code.PermissionDenied,
    meaning: "The address of the sender is not in `allow_from` of the webhook.",
    advice: "Add the address to the project file and deploy it.",
  },
  HANDSHAKE_REFUSED: {
    code: Code.PermissionDenied,
    meaning: "The handshake of a sender does not match the webhook.",
    advice: "Check the verification token on both sides.",
  },
  HOST_UNKNOWN: {
    code: Code.PermissionDenied,
    status: 421,
    meaning: "The server listens on loopback and does not serve the host of the request.",
    advice: "Set `SVC_ALLOWED_HOSTS` or `--public-url`.",
  },
  ORIGIN_NOT_ALLOWED: {
    code: Code.PermissionDenied,
    meaning: "The request to `/mcp` or to the console has the `Origin` of a website that is not allowed.",
    advice: "For /mcp, add the origin to `SVC_CORS_ORIGINS`. Open the console at its own address.",
  },
  SESSION_INVALID: {
    code: Code.Unauthenticated,
    meaning: "The session of the web console has expired, or its API key is no longer valid.",
    advice: "Sign in again.",
  },
  URL_NOT_SIGNED: {
    code: Code.PermissionDenied,
    meaning: "The service has not signed the storage URL for this method.",
    advice: "Request a new URL.",
  },
  URL_EXPIRED: {
    code: Code.PermissionDenied,
    meaning: "The signed storage URL has expired.",
    advice: "Request a new URL.",
  },
};
