/** Reasons of errors: malformed requests. */
import { Code } from "@connectrpc/connect";
import type { ReasonRow } from "./row.ts";

export type RequestReason =
  | "INVALID_ARGUMENT"
  | "INVALID_FIELD"
  | "UNKNOWN_FIELD"
  | "INVALID_MESSAGE"
  | "INVALID_JSON"
  | "JSON_TOO_DEEP"
  | "NUMBER_OUT_OF_RANGE"
  | "INVALID_PAGE_TOKEN"
  | "INVALID_CURSOR"
  | "INPUT_INVALID"
  | "INVALID_LOG_FILTER"
  | "IDEMPOTENCY_KEY_INVALID"
  | "IDEMPOTENCY_KEY_REUSED"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "COMPRESSION_NOT_ALLOWED"
  | "METHOD_UNKNOWN"
  | "METHOD_NOT_ALLOWED"
  | "PATH_UNKNOWN"
  | "UNSUPPORTED";

export const requests: Readonly<Record<RequestReason, ReasonRow>> = {
  INVALID_ARGUMENT: {
    code: Code.InvalidArgument,
    meaning: "The request is invalid for a reason without an entry of its own.",
    advice: "Fix what the message names.",
  },
  INVALID_FIELD: {
    code: Code.InvalidArgument,
    meaning: "Fields of the request violate their rules; `BadRequest` lists all of them.",
    advice: "Fix each listed field.",
  },
  UNKNOWN_FIELD: {
    code: Code.InvalidArgument,
    meaning: "The method has no field or query parameter with the name `field`.",
    advice: "Remove or rename it.",
  },
  INVALID_MESSAGE: {
    code: Code.InvalidArgument,
    meaning: "The body is not a message of the method in the declared encoding.",
    advice: "Check the encoding, and that client and service use the same contract.",
  },
  INVALID_JSON: {
    code: Code.InvalidArgument,
    meaning: "The body is not JSON in UTF-8, or not a JSON object.",
    advice: "Send a JSON object.",
  },
  JSON_TOO_DEEP: {
    code: Code.InvalidArgument,
    meaning: "The JSON has more levels than `SVC_MAX_JSON_DEPTH`.",
    advice: "Send flatter JSON or raise the limit.",
  },
  NUMBER_OUT_OF_RANGE: {
    code: Code.InvalidArgument,
    meaning: "A number would lose digits: an integer beyond 2^53 - 1, or a number beyond 1.8e308.",
    advice: "Send the number as a string.",
  },
  INVALID_PAGE_TOKEN: {
    code: Code.InvalidArgument,
    meaning: "The page token is malformed, or the filters differ from those of its page.",
    advice: "Start again at the first page.",
  },
  INVALID_CURSOR: {
    code: Code.InvalidArgument,
    meaning: "`after` is not the cursor of a log entry.",
    advice: "Pass the cursor of the last entry that was received.",
  },
  INPUT_INVALID: {
    code: Code.InvalidArgument,
    meaning: "The input violates the schema of the agent or workflow. The details name the fields.",
    advice: "Change the named fields.",
  },
  INVALID_LOG_FILTER: {
    code: Code.InvalidArgument,
    meaning: "A filter of `fields` is not `name=value` or is too long, or there are more than 4.",
    advice: "Pass at most 4 filters such as `order=17`, of at most 300 characters.",
  },
  IDEMPOTENCY_KEY_INVALID: {
    code: Code.InvalidArgument,
    meaning: "The idempotency key is empty, too long or not visible ASCII.",
    advice: "Send 1 to 255 visible ASCII characters.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    code: Code.InvalidArgument,
    status: 422,
    meaning: "The idempotency key was used with another body.",
    advice: "Use a new key for each request.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    code: Code.InvalidArgument,
    status: 415,
    meaning: "The content type or content coding of the body is not supported.",
    advice: "Send one of the types in the header `Accept` of the response.",
  },
  COMPRESSION_NOT_ALLOWED: {
    code: Code.Unimplemented,
    meaning: "A call without an API key was compressed.",
    advice: "Send the message without compression.",
  },
  METHOD_UNKNOWN: {
    code: Code.Unimplemented,
    status: 404,
    meaning: "The service has no such RPC method.",
    advice: "Check the versions of client and service.",
  },
  METHOD_NOT_ALLOWED: {
    code: Code.Unimplemented,
    status: 405,
    meaning: "The path does not support the HTTP method.",
    advice: "Use a method of the header `Allow`.",
  },
  PATH_UNKNOWN: {
    code: Code.NotFound,
    meaning: "The service has no such path.",
    advice: "Check the URL.",
  },
  UNSUPPORTED: {
    code: Code.Unimplemented,
    meaning: "The service does not support a feature of the request.",
    advice: "Change what the message names.",
  },
};
