/** Errors for bodies that cannot be read, with their HTTP statuses. */
import type { ConnectError } from "@connectrpc/connect";
import type { Reason } from "../errors/reasons.ts";
import { fail } from "../errors.ts";
import type { BodyRefusal } from "../webhooks/body.ts";
import type { JsonRefusal } from "../webhooks/json.ts";

/** The rest of the body may never arrive, so that the connection cannot be reused. */
const close = { connection: "close" };

export function bodyError(refusal: BodyRefusal, message: string): ConnectError {
  switch (refusal) {
    case "too_large":
      return fail("BODY_TOO_LARGE", `${message.replace(/\.$/, "")} (SVC_MAX_WEBHOOK_BYTES).`);
    case "encoded":
      return fail("UNSUPPORTED_MEDIA_TYPE", message);
    case "timeout":
      return fail("BODY_TOO_SLOW", message, { headers: close });
    case "aborted":
      return fail("BODY_INCOMPLETE", message, { headers: close });
  }
}

/** The error for a content type that webhooks do not accept. */
export function contentTypeError(): ConnectError {
  return fail("UNSUPPORTED_MEDIA_TYPE", "The Content-Type must be JSON, a form, text or XML, in UTF-8.", {
    headers: {
      accept:
        "application/json, application/x-www-form-urlencoded, multipart/form-data, text/*, application/xml",
    },
  });
}

const jsonReasons: Record<JsonRefusal, Reason> = {
  not_utf8: "INVALID_JSON",
  not_json: "INVALID_JSON",
  not_object: "INVALID_JSON",
  too_deep: "JSON_TOO_DEEP",
  number_too_large: "NUMBER_OUT_OF_RANGE",
  number_inexact: "NUMBER_OUT_OF_RANGE",
};

export function jsonError(refusal: JsonRefusal | "media_type", message: string): ConnectError {
  if (refusal !== "media_type") return fail(jsonReasons[refusal], message);
  const rule = "The Content-Type must be application/json, or another JSON type (+json), in UTF-8.";
  return fail("UNSUPPORTED_MEDIA_TYPE", rule, { headers: { accept: "application/json" } });
}
