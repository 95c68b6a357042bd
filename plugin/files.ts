import { builtin } from "./builtin.ts";
import { invalidArgument, messageOf, quote, type RequestLine, RestError } from "./error.ts";
import { StreamBody } from "./fetch.ts";
import type { TransferOptions, TransferProgress, UploadOptions } from "./options.ts";
import { declaredLength, readChunks, responseDetails } from "./response.ts";

const chunkBytes = 256 * 1024;

/**
 * Prepares a form with one file (RFC 7578). The file is read while it is sent; its own name is its name in the form.
 *
 * @throws RestError `file` when the path does not name a regular file
 */
export async function openUpload(
  filePath: string,
  fieldName: string,
  { contentType = "application/octet-stream", onProgress }: UploadOptions,
): Promise<{ headers: Record<string, string>; body: StreamBody }> {
  const { basename } = builtin("node:path", "upload a file");
  if (typeof fieldName !== "string" || fieldName === "") {
    throw invalidArgument(
      `Cannot upload a file: fieldName must be the name of a form field, got ${quote(fieldName)}`,
    );
  }
  if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;[\t\x20-\x7e]*)?$/.test(contentType)) {
    throw invalidArgument(
      `Cannot upload a file: contentType must be a media type, got ${quote(contentType)}`,
    );
  }
  const totalBytes = await fileSize(filePath);
  const boundary = `svc-${globalThis.crypto.randomUUID()}`;
  const encoder = new TextEncoder();
  const head = encoder.encode(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${escapeName(fieldName)}"; filename="${escapeName(basename(filePath))}"\r\n` +
      `Content-Type: ${contentType}\r\n\r\n`,
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  async function* read(): AsyncGenerator<Uint8Array, void> {
    yield head;
    let transferredBytes = 0;
    for await (const chunk of readFile(filePath, totalBytes)) {
      yield chunk;
      transferredBytes += chunk.length;
      report(onProgress, { transferredBytes, totalBytes });
    }
    yield tail;
  }
  return {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: new StreamBody(head.length + totalBytes + tail.length, read),
  };
}

/**
 * Saves a body to a temporary file in the same folder, syncs it and renames it to `savePath`. An existing file is kept
 * until then, and a failure leaves no temporary file.
 *
 * @throws RestError `file` when the file cannot be written, `network` when the body ends early
 */
export async function saveBody(
  response: Response,
  line: RequestLine,
  savePath: string,
  onProgress: TransferOptions["onProgress"],
): Promise<void> {
  const fs = builtin("node:fs/promises", "save a file");
  const { dirname, join } = builtin("node:path", "save a file");
  const write = <T>(operation: Promise<T>): Promise<T> =>
    fileErrors(`save the file ${quote(savePath)}`, operation);
  const partPath = join(dirname(savePath), `.download-${globalThis.crypto.randomUUID()}.part`);
  const totalBytes = declaredLength(response.headers);
  let transferredBytes = 0;
  const file = await write(fs.open(partPath, "wx"));
  try {
    try {
      for await (const chunk of readChunks(response)) {
        await write(file.appendFile(chunk));
        transferredBytes += chunk.length;
        report(onProgress, { transferredBytes, totalBytes });
      }
      if (totalBytes !== null && transferredBytes !== totalBytes) {
        const rule = `the response ended after ${transferredBytes} of ${totalBytes} bytes`;
        const message = `${line.method} ${line.url} failed: ${rule}`;
        throw new RestError("network", message, responseDetails(response, line));
      }
      await write(file.sync());
    } finally {
      await file.close();
    }
    await write(fs.rename(partPath, savePath));
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

async function fileSize(filePath: string): Promise<number> {
  const fs = builtin("node:fs/promises", "upload a file");
  const stats = await fileErrors(`upload the file ${quote(filePath)}`, fs.stat(filePath));
  if (!stats.isFile())
    throw new RestError("file", `Cannot upload ${quote(filePath)}: it must be a regular file`);
  return stats.size;
}

/** Reads exactly the declared number of bytes, even when the file grows. All chunks share one buffer. */
async function* readFile(filePath: string, sizeBytes: number): AsyncGenerator<Uint8Array, void> {
  const action = `upload the file ${quote(filePath)}`;
  const file = await fileErrors(action, builtin("node:fs/promises", "upload a file").open(filePath));
  try {
    const buffer = new Uint8Array(Math.min(chunkBytes, sizeBytes));
    for (let position = 0; position < sizeBytes; ) {
      const length = Math.min(buffer.length, sizeBytes - position);
      const { bytesRead } = await fileErrors(action, file.read(buffer, 0, length, position));
      if (bytesRead === 0)
        throw new RestError("file", `Cannot ${action}: it was truncated during the upload`);
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function fileErrors<T>(action: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    throw new RestError("file", `Cannot ${action}: ${messageOf(error)}`, { cause: error });
  }
}

/** Escapes a name as the HTML standard does for multipart/form-data. */
function escapeName(name: string): string {
  return name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

function report(onProgress: TransferOptions["onProgress"], progress: TransferProgress): void {
  try {
    onProgress?.(progress);
  } catch (error) {
    throw new RestError("aborted", "onProgress aborted the transfer by an exception", { cause: error });
  }
}
