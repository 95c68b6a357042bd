/** The database cannot be reached or does not answer in time. Nothing was stored: the same call may succeed later. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** The database cannot be reached since a commit was sent, which may have taken effect. */
export class StoreLost extends StoreUnavailable {
  override readonly name = "StoreLost";
}

/** For work that waits for news of the store. @returns null while the store is unavailable */
export async function unlessUnavailable<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  }
}
