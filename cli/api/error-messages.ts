import { Code, ConnectError } from "@connectrpc/connect";
import { CliError } from "../app/errors.ts";
import { clean, cleanLine } from "../terminal/format.ts";
import { ForeignAnswer, Unreachable } from "./transport.ts";

/** Turns whatever was thrown into what a person is told. Never a stack trace. */
export function explain(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ConnectError) return explainAnswer(error);
  const message = error instanceof Error ? error.message : String(error);
  return new CliError(
    cleanLine(message),
    "This is not expected; `svc status` says whether the service is well.",
    {
      cause: error,
    },
  );
}

/** Whether the service, or the way to it, may work again if asked later. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof ConnectError && (error.cause instanceof Unreachable || error.code === Code.Unavailable)
  );
}

/** Whether it was the service that answered, if only to refuse. */
export function isAnswer(error: unknown): boolean {
  return (
    error instanceof ConnectError &&
    !(error.cause instanceof Unreachable || error.cause instanceof ForeignAnswer)
  );
}

/** Whether the service refused the key. */
export function isAuthenticationFailure(error: unknown): boolean {
  return isAnswer(error) && (error as ConnectError).code === Code.Unauthenticated;
}

function explainAnswer(error: ConnectError): CliError {
  const { cause, code } = error;
  const message = cleanLine(error.rawMessage);
  if (cause instanceof Unreachable) {
    return new CliError(
      `Cannot reach the service at ${cause.baseUrl}${reasonOf(cause.cause)}.`,
      "Check the connection, and SVC_BASE_URL; `svc serve` runs a service on this machine.",
      { cause: error },
    );
  }
  if (cause instanceof ForeignAnswer) {
    return new CliError(
      `What answers at ${cause.url} is not this service (HTTP ${cause.status}).`,
      "Check SVC_BASE_URL.",
      { cause: error },
    );
  }
  switch (code) {
    case Code.Unauthenticated:
      return new CliError(
        "Authentication failed: the service does not accept this API key.",
        "Check SVC_API_KEY, or renew the key.",
        { cause: error },
      );
    case Code.PermissionDenied:
      return new CliError(
        message.startsWith("Permission denied") ? message : `Permission denied: ${message}`,
        "Use a key that has the scope.",
        { cause: error },
      );
    case Code.Unavailable:
      return new CliError(`The service cannot do this now: ${message}`, "Try again in a moment.", {
        cause: error,
      });
    case Code.Internal:
    case Code.Unknown:
    case Code.DataLoss:
      return new CliError(`The service failed: ${message}`, "Its own log says why.", { cause: error });
    case Code.Unimplemented:
      return new CliError(
        `The service does not know this request: ${message}`,
        "It may be older than this client: `svc --version`, `svc status --verbose`.",
        { cause: error },
      );
    default: {
      // Of a project that is refused, the service names every place, each on a line of its own.
      const [first = "", ...details] = clean(error.rawMessage).split("\n");
      return new CliError(first, adviceFor(code), { details, cause: error });
    }
  }
}

function adviceFor(code: Code): string {
  switch (code) {
    case Code.NotFound:
      return "Check the name or id, and that the key is one of the same organization.";
    case Code.ResourceExhausted:
      return "Wait, or send less; the limits are in the README.";
    case Code.DeadlineExceeded:
      return "Try again.";
    default:
      return "Nothing was changed. Mend what the message names, then repeat.";
  }
}

/** The system's own word for why there is no connection, such as `ECONNREFUSED`; the runtimes hide it differently. */
function reasonOf(cause: unknown): string {
  for (let error = cause, depth = 0; depth < 4 && error instanceof Error; depth += 1, error = error.cause) {
    if (error.name === "TimeoutError") return ": no answer in time";
    const code = (error as NodeJS.ErrnoException).code;
    if (typeof code === "string" && code !== "") return ` (${code})`;
  }
  return "";
}
