/** Stores files: with one PUT, or in parts when they are large. */
import { type FileHandle, open } from "node:fs/promises";
import { StorageError } from "../errors.ts";
import type { S3Client } from "./client.ts";
import { sizeOf } from "./download.ts";
import { errorCode, failureOf } from "./failure.ts";

/** Larger packages are sent in parts, by the server and by clients. */
export const partThresholdBytes: number = 16 * 1024 * 1024;
/** S3 requires at least 5 MiB for every part but the last. */
export const partBytes: number = 8 * 1024 * 1024;

const contentType = "application/gzip";

/** The sizes of the parts of a package, in order. */
export function partSizes(sizeBytes: number): number[] {
  const count = Math.ceil(sizeBytes / partBytes);
  return Array.from({ length: count }, (_, index) => Math.min(partBytes, sizeBytes - index * partBytes));
}

export async function putFile(client: S3Client, key: string, path: string, sizeBytes: number): Promise<void> {
  await using file = await open(path, "r");
  if (sizeBytes > partThresholdBytes) return await putParts(client, key, file, sizeBytes);
  const body = await readAt(file, 0, sizeBytes);
  await client.send({ method: "PUT", key, headers: { "content-type": contentType }, body, accept: [200] });
}

async function putParts(client: S3Client, key: string, file: FileHandle, sizeBytes: number): Promise<void> {
  const created = await client.send({
    method: "POST",
    key,
    query: { uploads: "" },
    headers: { "content-type": contentType },
    accept: [200],
  });
  const uploadId = /<UploadId>([^<>&]+)<\/UploadId>/.exec(created.text)?.[1];
  if (uploadId === undefined) throw new StorageError("it created a multipart upload without an id");
  try {
    const parts: string[] = [];
    for (const [index, size] of partSizes(sizeBytes).entries()) {
      const partNumber = String(index + 1);
      const body = await readAt(file, index * partBytes, size);
      const query = { partNumber, uploadId };
      const { headers } = await client.send({ method: "PUT", key, query, body, accept: [200] });
      const etag = headers.get("etag") ?? "";
      parts.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`);
    }
    await complete(client, key, uploadId, parts, sizeBytes);
  } catch (error) {
    // Parts cost storage until they are removed. The failure of the upload matters more than that of its removal.
    const abort = client.send({ method: "DELETE", key, query: { uploadId }, accept: [204, 404] });
    await abort.catch(() => {});
    throw error;
  }
}

/** A lost response leaves no upload to complete: then the object must exist. */
async function complete(
  client: S3Client,
  key: string,
  uploadId: string,
  parts: readonly string[],
  sizeBytes: number,
): Promise<void> {
  const xml = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
  const body = new Uint8Array(new TextEncoder().encode(xml));
  const headers = { "content-type": "application/xml" };
  const request = { method: "POST", key, query: { uploadId }, headers, body, accept: [200] } as const;
  try {
    // S3 may begin the response with status 200 before it has completed the upload.
    const answer = await client.send(request);
    if (errorCode(answer.text) !== "") throw failureOf(503, answer.text);
  } catch (error) {
    if ((await sizeOf(client, key)) !== sizeBytes) throw error;
  }
}

async function readAt(file: FileHandle, position: number, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(buffer, filled, size - filled, position + filled);
    if (bytesRead === 0) throw new Error(`Cannot read ${size} bytes at ${position}: the file ends earlier.`);
    filled += bytesRead;
  }
  return buffer;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
