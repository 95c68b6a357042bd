/** Errors for bodies that cannot be read, with their HTTP statuses. */
import { Code, type ConnectError } from "@connectrpc/connect";
import { fail, invalid } from "../errors.ts";
import type { BodyRefusal } from "../webhooks/body.ts";
import type { JsonRefusal } from "../webhooks/json.ts";

/** The rest of the body may never arrive, so that the connection cannot be reused. */
const close = { connection: "close" };

export function bodyError(refusal: BodyRefusal, message: string): ConnectError {
  switch (refusal) {
    case "too_large":
      return fail(Code.ResourceExhausted, `${message.replace(/\.$/, "")} (SVC_MAX_WEBHOOK_BYTES).`, {
        status: 413,
      });
    case "encoded":
      return invalid(message, { status: 415 });
    case "timeout":
      return fail(Code.DeadlineExceeded, message, { status: 408, headers: close });
    case "aborted":
      return invalid(message, { headers: close });
  }
}

/** The error for a content type that webhooks do not accept. */
export function contentTypeError(): ConnectError {
  return invalid("The Content-Type must be JSON, a form, text or XML, in UTF-8.", {
    status: 415,
    headers: {
      accept:
        "application/json, application/x-www-form-urlencoded, multipart/form-data, text/*, application/xml",
    },
  });
}

export function jsonError(refusal: JsonRefusal | "media_type", message: string): ConnectError {
  if (refusal !== "media_type") return invalid(message);
  return invalid("The Content-Type must be application/json, or another JSON type (+json), in UTF-8.", {
    status: 415,
    headers: { accept: "application/json" },
  });
}
