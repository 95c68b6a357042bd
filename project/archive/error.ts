/** Thrown for a package that cannot be accepted; its message can be shown to whoever sent it. */
export class PackageError extends Error {
  override readonly name: string = "PackageError";
  /** `limit`: too large or too many; `malformed`: not an archive that svc accepts. */
  readonly reason: "malformed" | "limit";

  constructor(reason: "malformed" | "limit", message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
