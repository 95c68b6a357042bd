/** The server cannot accept a package. The message is safe to show to the client. */
export class PackageError extends Error {
  override readonly name: string = "PackageError";
  /** `limit`: too large; `malformed`: not an archive that svc accepts. */
  readonly reason: "limit" | "malformed";

  constructor(reason: PackageError["reason"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
