import { Code, ConnectError } from "@connectrpc/connect";
import { errorInfo, retryInfo } from "../errors/details.ts";

export interface StorageErrorOptions {
  /** Whether a repeated request fails too, until the operator changes the configuration. */
  isPermanent?: boolean;
  cause?: unknown;
}

const retrySeconds = 5;

/** The object storage cannot be used now. Callers of the service see it as `unavailable`. */
export class StorageError extends ConnectError {
  /** The problem, for `/health` and the log: a clause without addresses and credentials. */
  readonly summary: string;
  readonly isPermanent: boolean;

  constructor(summary: string, { isPermanent = false, cause }: StorageErrorOptions = {}) {
    const advice = isPermanent ? "The operator must correct its configuration." : "Try again later.";
    super(
      `The object storage is not available: ${summary}. ${advice}`,
      Code.Unavailable,
      isPermanent ? undefined : { "retry-after": String(retrySeconds) },
      undefined,
      cause,
    );
    this.details.push(errorInfo("STORAGE_UNAVAILABLE"));
    if (!isPermanent) this.details.push(retryInfo(retrySeconds));
    this.summary = summary;
    this.isPermanent = isPermanent;
  }
}
