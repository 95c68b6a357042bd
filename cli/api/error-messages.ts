import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../proto/google/rpc/error_details_pb.ts";
import { CliError } from "../app/errors.ts";
import { docsPath } from "../app/package-root.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { ConnectionFailed, UnexpectedResponse } from "./failures.ts";

/** Converts any error into a message and one line of advice, without a stack trace. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const [message, advice, details = []] = describe(error);
  return new CliError(message, advice, { details, cause: error });
}

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof ConnectError &&
    (error.cause instanceof ConnectionFailed || error.code === Code.Unavailable)
  );
}

/** Whether the service responded, if only with an error. */
export function isResponse(error: unknown): error is ConnectError {
  return (
    error instanceof ConnectError &&
    !(error.cause instanceof ConnectionFailed || error.cause instanceof UnexpectedResponse)
  );
}

/** Whether the service rejected the API key. */
export function isAuthenticationFailure(error: unknown): boolean {
  return isResponse(error) && error.code === Code.Unauthenticated;
}

/** Whether the service does not know the named resource. */
export function isNotFound(error: unknown): error is ConnectError {
  return error instanceof ConnectError && error.code === Code.NotFound;
}

/** Whether another project of the environment has an agent or workflow of the same name. */
export function isNameTaken(error: unknown): boolean {
  return isResponse(error) && reasonOf(error) === "NAME_TAKEN";
}

type Description = readonly [message: string, advice: string, details?: readonly string[]];

function describe(error: unknown): Description {
  if (!(error instanceof ConnectError)) {
    const message = error instanceof Error ? error.message : String(error);
    return [sanitizeLine(message), "This error is unexpected. Run `svc doctor` to check the setup."];
  }
  const { cause } = error;
  if (cause instanceof ConnectionFailed) {
    return [
      `Cannot reach the service at ${cause.baseUrl}${systemReason(cause.cause)}.`,
      "Check the connection and SVC_BASE_URL. `svc serve` starts a service on this machine.",
    ];
  }
  if (cause instanceof UnexpectedResponse) {
    return [`The server at ${cause.url} is not this service (HTTP ${cause.status}).`, "Check SVC_BASE_URL."];
  }
  return describeResponse(error);
}

function describeResponse(error: ConnectError): Description {
  const { code, rawMessage } = error;
  const message = sanitizeLine(rawMessage);
  switch (code) {
    case Code.Unauthenticated:
      return [
        "Authentication failed: the service does not accept this API key.",
        "Check SVC_API_KEY or renew the key. It may be revoked or expired.",
      ];
    case Code.PermissionDenied:
      return reasonOf(error) === "SCOPE_MISSING"
        ? [message, "Use an API key with this scope."]
        : [`Permission denied: ${message}`, adviceFor(error)];
    case Code.Unavailable:
      return [`The service is unavailable: ${message}`, retryAdvice(error)];
    case Code.Internal:
    case Code.Unknown:
    case Code.DataLoss:
      return [`The service failed: ${message}`, "See the log of the service."];
    case Code.Unimplemented:
      return [
        `The service does not support this request: ${message}`,
        "The service may be older than this client. Compare `svc --version` and `svc status --verbose`.",
      ];
    default: {
      // The service reports every problem of a project, and every invalid field, on a line of its own.
      const [first = "", ...details] = rawMessage.split("\n").map(withOption);
      const isFilter = rawMessage.split("\n").some((line) => line !== withOption(line));
      return [first, isFilter ? "Fix the option and run the command again." : adviceFor(error), details];
    }
  }
}

/** The options of lists whose names differ from the field of the request, or that no other request has. */
const optionOfField: Readonly<Record<string, string>> = {
  contains: "--grep",
  fields: "--field",
  page_token: "--page-token",
  until: "--until",
};

/** Names the option in place of the field. */
function withOption(line: string): string {
  return line.replace(/^(Cannot use )(\w+)(?=:)/, (text, start: string, field: string) => {
    const option = optionOfField[field];
    return option === undefined ? text : start + option;
  });
}

/** Advice for reasons that the advice for their code does not fit. */
const adviceByReason: Readonly<Record<string, string>> = {
  TARGET_NOT_FOUND: "Check the name and the environment, or deploy it with `svc push`.",
  DEPLOYMENT_ACTIVE: "Nothing was changed. Activate another deployment first, or pass --force.",
  PAYLOAD_NOT_KEPT: "Nothing was changed. Have the sender deliver the request again.",
  NAME_TAKEN:
    "Nothing was changed. Rename one of them, or run `svc push <environment>` for another environment.",
  DEPLOYMENT_CHANGED: "Run the command again.",
  HOST_UNKNOWN: "Start the service with SVC_ALLOWED_HOSTS or --public-url.",
};

function adviceFor(error: ConnectError): string {
  const advice = adviceByReason[reasonOf(error) ?? ""];
  if (advice !== undefined) return advice;
  switch (error.code) {
    case Code.NotFound:
      return "Check the name or ID, and that the API key belongs to the same organization.";
    case Code.ResourceExhausted:
      return retryAdvice(
        error,
        `Try again later or send less. ${docsPath("configuration.md")} lists all limits.`,
      );
    case Code.DeadlineExceeded:
      return "Try again.";
    default:
      return "Nothing was changed. Fix the reported problem and run the command again.";
  }
}

function retryAdvice(error: ConnectError, otherwise = "Try again later."): string {
  const [retry] = error.findDetails(RetryInfoSchema);
  const seconds = Number(retry?.retryDelay?.seconds ?? 0);
  return seconds > 0 ? `Try again in ${seconds} s.` : otherwise;
}

/** The stable reason of an error of the service; undefined for an error of a proxy or an older service. */
export function reasonOf(error: ConnectError): string | undefined {
  return error.findDetails(ErrorInfoSchema).find(({ domain }) => domain === "svc")?.reason;
}

/** The system's error code, such as `ECONNREFUSED`; the runtimes nest it at different depths. */
function systemReason(cause: unknown): string {
  for (let error = cause, depth = 0; depth < 4 && error instanceof Error; depth += 1, error = error.cause) {
    if (error.name === "TimeoutError") return ": the request timed out";
    const code = (error as NodeJS.ErrnoException).code;
    if (typeof code === "string" && code !== "") return ` (${code})`;
  }
  return "";
}
