/** Reads objects. A body that ends early is continued at the byte that it reached. */
import { StorageError } from "../errors.ts";
import type { S3Client, S3Stream } from "./client.ts";
import { errorCode, failureOf, failureOfFetch } from "./failure.ts";

export interface Download {
  sizeBytes: number;
  /** Ends after exactly `sizeBytes` bytes, or throws `StorageError`. */
  content: AsyncGenerator<Uint8Array, void, void>;
}

/** Null when the object does not exist. */
export async function download(client: S3Client, key: string): Promise<Download | null> {
  const title = `GET ${key}`;
  const first = await client.retry(title, () => client.open({ method: "GET", key, accept: [200, 404] }));
  if (first.status === 404) {
    checkBucket(await textOf(first.content));
    return null;
  }
  const sizeBytes = Number(first.headers.get("content-length") ?? Number.NaN);
  if (!Number.isSafeInteger(sizeBytes)) {
    await first.content.return();
    throw new StorageError("it sent an object without its length");
  }
  return { sizeBytes, content: resumed(client, key, first, sizeBytes) };
}

/** The size of an object in bytes, or null when it does not exist. Not a HEAD: its errors have no codes. */
export async function sizeOf(client: S3Client, key: string): Promise<number | null> {
  const headers = { range: "bytes=0-1" };
  const answer = await client.send({ method: "GET", key, headers, accept: [206, 404] });
  if (answer.status === 404) {
    checkBucket(answer.text);
    return null;
  }
  return Number(/\/(\d+)$/.exec(answer.headers.get("content-range") ?? "")?.[1]);
}

async function* resumed(
  client: S3Client,
  key: string,
  first: S3Stream,
  sizeBytes: number,
): AsyncGenerator<Uint8Array, void, void> {
  const etag = first.headers.get("etag");
  let received = 0;
  let failures = 0;
  let stream = first;
  for (;;) {
    let cause: unknown = new StorageError("it sent an incomplete object");
    try {
      for await (const chunk of stream.content) {
        received += chunk.byteLength;
        if (received > sizeBytes) throw new StorageError("it sent more than the object's length");
        failures = 0;
        yield chunk;
      }
      if (received === sizeBytes) return;
    } catch (error) {
      cause = error;
    }
    failures += 1;
    if (failures >= client.timing.attempts || received > sizeBytes) throw failureOfFetch(cause);
    await client.backoff(failures);
    stream = await client.retry(`GET ${key}`, () => rest(client, key, etag, received, sizeBytes));
  }
}

async function rest(
  client: S3Client,
  key: string,
  etag: string | null,
  from: number,
  sizeBytes: number,
): Promise<S3Stream> {
  const headers = { range: `bytes=${from}-`, ...(etag === null ? {} : { "if-match": etag }) };
  const stream = await client.open({ method: "GET", key, headers, accept: [206] });
  if (stream.headers.get("content-range") === `bytes ${from}-${sizeBytes - 1}/${sizeBytes}`) return stream;
  await stream.content.return();
  throw new StorageError("it sent another range than requested");
}

/** @throws StorageError when the bucket does not exist, instead of an object */
function checkBucket(xml: string): void {
  if (errorCode(xml) === "NoSuchBucket") throw failureOf(404, xml);
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(content)).toString("utf8");
}
