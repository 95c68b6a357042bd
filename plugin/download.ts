import type { FileHandle } from "node:fs/promises";
import { builtin } from "./builtin.ts";
import { invalidArgument, messageOf, quote, RestError } from "./error.ts";
import { detailsOf, type Exchange } from "./exchange.ts";
import { pieces, plainLength } from "./read.ts";
import { report, type TransferOptions } from "./transfer.ts";

/**
 * Saves the body of an answer: first under a temporary name in the same folder, then, when it is complete and on disk,
 * by renaming. Whatever was at `savePath` stays until then, and nothing partial is left after a failure.
 *
 * @throws RestError `file` when the disk refuses, `network` when the body ends early
 */
export async function saveBody(
  response: Response,
  exchange: Exchange,
  savePath: string,
  onProgress: TransferOptions["onProgress"],
): Promise<void> {
  const fs = builtin("node:fs/promises", "save a file");
  const { dirname, join } = builtin("node:path", "save a file");
  const partPath = join(dirname(savePath), `.download-${globalThis.crypto.randomUUID()}.part`);
  const totalBytes = plainLength(response.headers);
  let transferredBytes = 0;
  const handle = await onDisk(savePath, () => fs.open(partPath, "wx"));
  try {
    try {
      for await (const piece of pieces(response)) {
        await onDisk(savePath, () => writeAll(handle, piece, transferredBytes));
        transferredBytes += piece.length;
        report(onProgress, { transferredBytes, totalBytes });
      }
      if (totalBytes !== null && transferredBytes !== totalBytes) {
        throw new RestError(
          "network",
          `${exchange.method} ${exchange.url} failed: the answer ended after ${transferredBytes} of ${totalBytes} bytes`,
          detailsOf(response, exchange),
        );
      }
      await onDisk(savePath, () => handle.sync());
    } finally {
      await handle.close();
    }
    await onDisk(savePath, () => fs.rename(partPath, savePath));
  } catch (error) {
    await fs.rm(partPath, { force: true });
    throw error;
  }
}

/** @throws RestError `invalid_argument` */
export function checkSavePath(savePath: string): void {
  if (typeof savePath !== "string" || savePath === "" || savePath.includes("\0")) {
    throw invalidArgument(`Cannot save the file: savePath must be a path, got ${quote(savePath)}`);
  }
}

async function writeAll(handle: FileHandle, piece: Uint8Array, position: number): Promise<void> {
  for (let offset = 0; offset < piece.length; ) {
    const { bytesWritten } = await handle.write(piece, offset, piece.length - offset, position + offset);
    offset += bytesWritten;
  }
}

async function onDisk<T>(savePath: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw new RestError("file", `Cannot save the file ${quote(savePath)}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
