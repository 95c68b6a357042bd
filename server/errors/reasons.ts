/**
 * The reasons of errors. Clients branch on the reason, so a released one is never renamed. docs/errors.md is generated from
 * this table.
 */
import { Code } from "@connectrpc/connect";

/** A stable reason. */
export type Reason =
  | "API_KEY_MISSING"
  | "API_KEY_INVALID"
  | "SCOPE_MISSING"
  | "SIGNATURE_INVALID"
  | "SIGNATURE_REQUIRED"
  | "SENDER_NOT_ALLOWED"
  | "HANDSHAKE_REFUSED"
  | "HOST_UNKNOWN"
  | "ORIGIN_NOT_ALLOWED"
  | "SESSION_INVALID"
  | "URL_NOT_SIGNED"
  | "URL_EXPIRED"
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
  | "UNSUPPORTED"
  | "BODY_TOO_LARGE"
  | "BODY_TOO_SLOW"
  | "BODY_INCOMPLETE"
  | "RATE_LIMITED"
  | "RESOURCE_EXHAUSTED"
  | "DEADLINE_EXCEEDED"
  | "CANCELLED"
  | "RESOURCE_NOT_FOUND"
  | "NOT_FOUND"
  | "TARGET_NOT_FOUND"
  | "WEBHOOK_NOT_FOUND"
  | "WEBHOOK_GONE"
  | "WEBHOOK_AMBIGUOUS"
  | "PACKAGE_INVALID"
  | "PACKAGE_TOO_LARGE"
  | "PACKAGE_NOT_STORED"
  | "UPLOAD_CLOSED"
  | "UPLOAD_MISMATCH"
  | "PROJECT_INVALID"
  | "MODULES_INVALID"
  | "MODULES_NOT_CHECKED"
  | "NETWORK_NOT_ENFORCEABLE"
  | "NAME_TAKEN"
  | "DEPLOYMENT_CHANGED"
  | "DEPLOYMENT_ACTIVE"
  | "DEPLOYMENT_NOT_SUPERSEDED"
  | "DEPLOYMENT_DELETED"
  | "TARGET_NOT_DEPLOYED"
  | "PAYLOAD_NOT_KEPT"
  | "EXECUTION_FAILED"
  | "FAILED_PRECONDITION"
  | "ALREADY_EXISTS"
  | "ABORTED"
  | "PERMISSION_DENIED"
  | "UNAUTHENTICATED"
  | "STARTING"
  | "STORE_UNAVAILABLE"
  | "STORAGE_UNAVAILABLE"
  | "UNAVAILABLE"
  | "INTERNAL";

export interface ReasonRow {
  code: Code;
  /** The HTTP status on REST paths and webhook URLs, if it differs from that of the code. */
  status?: number;
  /** One sentence. */
  meaning: string;
  /** What the client does. One sentence. */
  advice: string;
}

export const reasons: Readonly<Record<Reason, ReasonRow>> = {
  // Authentication and permission
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
  // Requests
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
  // Limits
  BODY_TOO_LARGE: {
    code: Code.ResourceExhausted,
    status: 413,
    meaning: "The body or message exceeds a limit of bytes.",
    advice: "Send less, or raise the limit that the message names.",
  },
  BODY_TOO_SLOW: {
    code: Code.DeadlineExceeded,
    status: 408,
    meaning: "The body did not arrive in time.",
    advice: "Send it again over a faster connection.",
  },
  BODY_INCOMPLETE: {
    code: Code.InvalidArgument,
    meaning: "The body ended early.",
    advice: "Send it again.",
  },
  RATE_LIMITED: {
    code: Code.ResourceExhausted,
    meaning: "Too many requests; `QuotaFailure` names the limits.",
    advice: "Wait as long as `RetryInfo` says.",
  },
  RESOURCE_EXHAUSTED: {
    code: Code.ResourceExhausted,
    meaning: "A limit without an entry of its own was exceeded.",
    advice: "Send less or fewer requests.",
  },
  DEADLINE_EXCEEDED: {
    code: Code.DeadlineExceeded,
    meaning: "The deadline of the call passed before its end. A change may have been made.",
    advice: "Check the state before you retry, or allow more time.",
  },
  CANCELLED: {
    code: Code.Canceled,
    meaning: "The client cancelled the call.",
    advice: "Nothing to do.",
  },
  // Resources
  RESOURCE_NOT_FOUND: {
    code: Code.NotFound,
    meaning: "The organization has no such resource; `ResourceInfo` names it.",
    advice: "Check the id and the organization of the API key.",
  },
  NOT_FOUND: {
    code: Code.NotFound,
    meaning: "Something that the request names does not exist.",
    advice: "Check what the message names.",
  },
  TARGET_NOT_FOUND: {
    code: Code.NotFound,
    meaning: "No active deployment of the environment has such an agent or workflow.",
    advice: "Check name and environment, or deploy it.",
  },
  WEBHOOK_NOT_FOUND: {
    code: Code.NotFound,
    meaning: "There is no such webhook.",
    advice: "Compare the URL with `svc webhook list`.",
  },
  WEBHOOK_GONE: {
    code: Code.NotFound,
    status: 410,
    meaning: "The deployment of the webhook was deleted.",
    advice: "Remove the URL from the sender.",
  },
  WEBHOOK_AMBIGUOUS: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "Several webhooks have the slug.",
    advice: "Use the URL that names the agent or workflow.",
  },
  // Deployments and executions
  PACKAGE_INVALID: {
    code: Code.InvalidArgument,
    meaning: "The package is not a valid archive.",
    advice: "Package the project with `svc push`.",
  },
  PACKAGE_TOO_LARGE: {
    code: Code.InvalidArgument,
    status: 413,
    meaning: "The package exceeds `SVC_MAX_PACKAGE_BYTES`.",
    advice: "Leave files out with `.gitignore`, or raise the limit.",
  },
  PACKAGE_NOT_STORED: {
    code: Code.FailedPrecondition,
    meaning: "No package with this digest is stored.",
    advice: "Upload it first.",
  },
  UPLOAD_CLOSED: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The upload is complete or does not exist.",
    advice: "Create a new upload.",
  },
  UPLOAD_MISMATCH: {
    code: Code.InvalidArgument,
    meaning: "Size or digest of the upload differ from the announced ones.",
    advice: "Upload the package again.",
  },
  PROJECT_INVALID: {
    code: Code.InvalidArgument,
    meaning:
      "The project file of the package is invalid. The message lists the problems; `BadRequest` has each with its position as field.",
    advice: "Fix them and push again.",
  },
  MODULES_INVALID: {
    code: Code.InvalidArgument,
    meaning:
      "Modules of the package cannot be loaded. The message lists the errors; `BadRequest` has each with its file and line as field.",
    advice: "Fix them and push again.",
  },
  MODULES_NOT_CHECKED: {
    code: Code.Unavailable,
    meaning: "The modules of the package were not checked: no worker answered, or the check was interrupted.",
    advice: "Start a worker if none is running, and push again.",
  },
  NETWORK_NOT_ENFORCEABLE: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The project restricts its network, and this service cannot enforce that.",
    advice: "Run the service with `SVC_RUNNER=deno` or bubblewrap.",
  },
  NAME_TAKEN: {
    code: Code.AlreadyExists,
    meaning: "Another project has deployed an agent or workflow with the same name to the environment.",
    advice: "Rename one of them.",
  },
  DEPLOYMENT_CHANGED: {
    code: Code.Aborted,
    meaning: "The deployment changed during the call.",
    advice: "Retry the call.",
  },
  DEPLOYMENT_ACTIVE: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The deployment is active.",
    advice: "Pass `force`, or activate another deployment first.",
  },
  DEPLOYMENT_NOT_SUPERSEDED: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "Only a superseded deployment can be activated again.",
    advice: "Choose another deployment.",
  },
  DEPLOYMENT_DELETED: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The deployment was deleted.",
    advice: "Use the active deployment.",
  },
  TARGET_NOT_DEPLOYED: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The deployment to run does not have the agent or workflow.",
    advice: "Name a deployment that has it.",
  },
  PAYLOAD_NOT_KEPT: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The payload of the delivery was not kept.",
    advice: "Have the sender deliver it again.",
  },
  EXECUTION_FAILED: {
    code: Code.Internal,
    meaning: "The caller waited for an execution, and it failed or was cancelled.",
    advice: "Read the execution with the id `execution_id`.",
  },
  FAILED_PRECONDITION: {
    code: Code.FailedPrecondition,
    meaning: "The state of a resource does not allow the request.",
    advice: "Change the state that the message names.",
  },
  ALREADY_EXISTS: {
    code: Code.AlreadyExists,
    meaning: "The resource exists already.",
    advice: "Choose another name.",
  },
  ABORTED: {
    code: Code.Aborted,
    meaning: "A concurrent change interfered.",
    advice: "Retry the call.",
  },
  PERMISSION_DENIED: {
    code: Code.PermissionDenied,
    meaning: "The caller may not do this.",
    advice: "Change what the message names.",
  },
  UNAUTHENTICATED: {
    code: Code.Unauthenticated,
    meaning: "The caller is not authenticated.",
    advice: "Check the credentials.",
  },
  // The service
  STARTING: {
    code: Code.Unavailable,
    meaning: "The server is starting.",
    advice: "Retry after the time of `RetryInfo`.",
  },
  STORE_UNAVAILABLE: {
    code: Code.Unavailable,
    meaning: "The service cannot reach its store or write to it.",
    advice: "Retry later; the operator finds the cause in the log of the service.",
  },
  STORAGE_UNAVAILABLE: {
    code: Code.Unavailable,
    meaning: "The service cannot read or write packages in its object storage.",
    advice: "Retry later; the operator finds the cause in `/health` and in the log of the service.",
  },
  UNAVAILABLE: {
    code: Code.Unavailable,
    meaning: "The service cannot respond at the moment.",
    advice: "Retry later.",
  },
  INTERNAL: {
    code: Code.Internal,
    meaning: "The service failed to process the request.",
    advice: "Retry later; the operator finds the cause in the log of the service.",
  },
};

const generic: Record<Code, Reason> = {
  [Code.Canceled]: "CANCELLED",
  [Code.Unknown]: "INTERNAL",
  [Code.InvalidArgument]: "INVALID_ARGUMENT",
  [Code.DeadlineExceeded]: "DEADLINE_EXCEEDED",
  [Code.NotFound]: "NOT_FOUND",
  [Code.AlreadyExists]: "ALREADY_EXISTS",
  [Code.PermissionDenied]: "PERMISSION_DENIED",
  [Code.ResourceExhausted]: "RESOURCE_EXHAUSTED",
  [Code.FailedPrecondition]: "FAILED_PRECONDITION",
  [Code.Aborted]: "ABORTED",
  [Code.OutOfRange]: "INVALID_ARGUMENT",
  [Code.Unimplemented]: "UNSUPPORTED",
  [Code.Internal]: "INTERNAL",
  [Code.Unavailable]: "UNAVAILABLE",
  [Code.DataLoss]: "INTERNAL",
  [Code.Unauthenticated]: "UNAUTHENTICATED",
};

/** The reason of an error that has only a code. */
export function genericReason(code: Code): Reason {
  return generic[code];
}
