/** What an error of PostgreSQL or of the connection means. Codes are SQLSTATE. */

/** A statement that PostgreSQL rejected. Without the details, which contain stored values. */
export class PostgresError extends Error {
  override readonly name = "PostgresError";
  readonly code: string;
  /** The violated constraint; empty for other errors. */
  readonly constraint: string;

  constructor(message: string, code: string, constraint: string, cause?: unknown) {
    super(`PostgreSQL: ${message}`, { cause });
    this.code = code;
    this.constraint = constraint;
  }
}

/** The connection ended: everything that it had not committed is rolled back. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** A failed connection attempt that no retry can help, for example a wrong password. */
const configurationErrors = ["28", "3D", "3F", "42501"];

/** serialization_failure, deadlock_detected: the transaction is rolled back, and the same program may succeed. */
const transient = new Set(["40001", "40P01"]);

/** The backend ends or cannot write: admin_shutdown, crash_shutdown, cannot_connect_now, read-only after a failover. */
const endsConnection = new Set(["57P01", "57P02", "57P03", "57P05", "25006", "53300", "25P03"]);

/** lock_not_available, query_canceled by the timeout, disk_full, out_of_memory: the load or the server, not the statement. */
const overloaded = new Set(["55P03", "57014", "53100", "53200"]);

interface ErrorFields {
  message?: unknown;
  code?: unknown;
  constraint?: unknown;
  severity?: unknown;
  /** The function of PostgreSQL that raised the error. */
  routine?: unknown;
}

/** Maps an error of the driver to `PostgresError` or `ConnectionLost`. */
export function fromDriver(error: unknown): PostgresError | ConnectionLost {
  const { message, code, constraint, severity, routine } = (error ?? {}) as ErrorFields;
  const text = String(message ?? error);
  if (typeof code !== "string" || severity === undefined) return new ConnectionLost(text, { cause: error });
  if (endsConnection.has(code) || code.startsWith("08")) return new ConnectionLost(text, { cause: error });
  // A migration of another process has added a column: the prepared statements of the connection fail from now on.
  if (code === "0A000" && routine === "RevalidateCachedQuery")
    return new ConnectionLost(text, { cause: error });
  return new PostgresError(text, code, typeof constraint === "string" ? constraint : "", undefined);
}

/** Whether the same transaction may succeed when it is repeated. */
export function isTransient(error: unknown): boolean {
  return error instanceof PostgresError && transient.has(error.code);
}

export function isOverload(error: unknown): boolean {
  return error instanceof PostgresError && overloaded.has(error.code);
}

export function isConfiguration(error: unknown): boolean {
  return (
    error instanceof PostgresError && configurationErrors.some((prefix) => error.code.startsWith(prefix))
  );
}
