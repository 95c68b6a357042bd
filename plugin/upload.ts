import { builtin } from "./builtin.ts";
import { invalidArgument, messageOf, quote, RestError } from "./error.ts";
import { report, type TransferOptions } from "./transfer.ts";
import { StreamBody } from "./transport.ts";

export interface UploadOptions extends TransferOptions {
  /** Media type of the file. Default `application/octet-stream`. */
  contentType?: string;
}

export interface FormUpload {
  /** Value of the request's content type. */
  contentType: string;
  body: StreamBody;
}

const pieceBytes = 256 * 1024;

/**
 * A file as the one field of a form (RFC 7578), read while it is sent. The name in the form is the file's own.
 *
 * @throws RestError `file` when there is no such regular file
 */
export async function openUpload(
  filePath: string,
  fieldName: string,
  options: UploadOptions,
): Promise<FormUpload> {
  const { basename } = builtin("node:path", "upload a file");
  const { contentType = "application/octet-stream", onProgress } = options;
  if (typeof fieldName !== "string" || fieldName === "") {
    throw invalidArgument(
      `Cannot upload a file: fieldName must name the form field, got ${quote(fieldName)}`,
    );
  }
  if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;[\t\x20-\x7e]*)?$/.test(contentType)) {
    throw invalidArgument(
      `Cannot upload a file: contentType must be a media type, got ${quote(contentType)}`,
    );
  }
  const totalBytes = await sizeOf(filePath);
  const boundary = `svc-${globalThis.crypto.randomUUID()}`;
  const encoder = new TextEncoder();
  const head = encoder.encode(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${escapeName(fieldName)}"; filename="${escapeName(basename(filePath))}"\r\n` +
      `Content-Type: ${contentType}\r\n\r\n`,
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: new StreamBody(head.length + totalBytes + tail.length, async function* () {
      yield head;
      let transferredBytes = 0;
      for await (const piece of readFile(filePath, totalBytes)) {
        yield piece;
        transferredBytes += piece.length;
        report(onProgress, { transferredBytes, totalBytes });
      }
      yield tail;
    }),
  };
}

async function sizeOf(filePath: string): Promise<number> {
  const fs = builtin("node:fs/promises", "upload a file");
  const stats = await fs.stat(filePath).catch((error: unknown) => {
    throw cannotRead(filePath, messageOf(error), error);
  });
  if (!stats.isFile()) throw cannotRead(filePath, "it must be a regular file");
  return stats.size;
}

/** The bytes of a file, exactly as many as were announced, all in the same memory. */
async function* readFile(filePath: string, sizeBytes: number): AsyncGenerator<Uint8Array, void> {
  const fs = builtin("node:fs/promises", "upload a file");
  const handle = await fs.open(filePath).catch((error: unknown) => {
    throw cannotRead(filePath, messageOf(error), error);
  });
  try {
    const memory = new Uint8Array(Math.min(pieceBytes, sizeBytes));
    for (let position = 0; position < sizeBytes; ) {
      const length = Math.min(memory.length, sizeBytes - position);
      const { bytesRead } = await handle.read(memory, 0, length, position);
      if (bytesRead === 0) throw cannotRead(filePath, "it became shorter while it was sent");
      position += bytesRead;
      yield memory.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** As the HTML standard encodes names in multipart/form-data. */
function escapeName(name: string): string {
  return name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

function cannotRead(filePath: string, rule: string, cause?: unknown): RestError {
  return new RestError("file", `Cannot upload the file ${quote(filePath)}: ${rule}`, { cause });
}
