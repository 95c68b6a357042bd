import { RestError } from "./error.ts";
import type { RequestOptions } from "./options.ts";

export interface TransferProgress {
  /** Bytes of the file so far. */
  transferredBytes: number;
  /** Bytes of the whole file; null when the server does not say. */
  totalBytes: number | null;
}

export interface TransferOptions extends RequestOptions {
  /** Called after each piece of the file; what it throws ends the transfer. */
  onProgress?: (progress: TransferProgress) => void;
}

/**
 * Tells the caller how far a transfer is.
 *
 * @throws RestError `aborted` when the caller's function throws
 */
export function report(onProgress: TransferOptions["onProgress"], progress: TransferProgress): void {
  try {
    onProgress?.(progress);
  } catch (error) {
    throw new RestError("aborted", "The transfer was ended by its onProgress function", { cause: error });
  }
}
