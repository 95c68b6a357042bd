/** The database cannot be reached or does not answer in time. Nothing was stored: the same call may succeed later. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** The database cannot be reached since a commit was sent, which may have taken effect. */
export class StoreLost extends StoreUnavailable {
  override readonly name = "StoreLost";
}
