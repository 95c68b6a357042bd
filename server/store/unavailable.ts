/** The database cannot be reached or does not answer in time. The same call may succeed later. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}
