/** One suite for every driver of the object storage. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ContentMismatch, type ObjectStorage, type Upload } from "../../server/storage/contract.ts";
import { openFileStorage } from "../../server/storage/filesystem.ts";
import { openS3Storage } from "../../server/storage/s3/index.ts";
import { configOf, type S3Endpoint, startS3 } from "../support/s3.ts";
import { limits, orgId, pieces, put, read, type Sample, sample, uploadOf } from "./samples.ts";

const baseUrl = "http://127.0.0.1:1";
let folder: string;
let s3: S3Endpoint;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-storage-"));
  s3 = await startS3();
});

afterAll(async () => {
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

const drivers: [name: string, open: () => Promise<ObjectStorage>][] = [
  ["file system", async () => openFileStorage(join(folder, "files"), limits)],
  ["S3", () => openS3Storage(join(folder, "s3"), configOf(s3), limits)],
];

describe.each(drivers)("object storage on %s", (_, open) => {
  let storage: ObjectStorage;
  beforeAll(async () => {
    storage = await open();
  });

  const store = ({ key, bytes }: Sample) => storage.put(key, bytes.length, pieces(bytes));

  test("is writable", async () => {
    await expect(storage.check()).resolves.toBeUndefined();
  });

  test.each([
    ["small", 1000],
    ["in several parts", 20 * 2 ** 20],
  ])("returns a package that was stored: %s", async (_, size) => {
    const stored = sample(size);
    await store(stored);
    const object = await storage.get(stored.key);
    expect(object?.sizeBytes).toBe(stored.bytes.length);
    expect(await storage.sizeOf(stored.key)).toBe(stored.bytes.length);
    expect((await read(object))?.equals(stored.bytes)).toBe(true);
  });

  test("stores the same package again", async () => {
    const stored = sample(2000);
    await store(stored);
    await store(stored);
    expect((await read(await storage.get(stored.key)))?.equals(stored.bytes)).toBe(true);
  });

  test("separates organizations", async () => {
    const stored = sample(100);
    await store(stored);
    const other = { ...stored.key, orgId: orgId.replace("s", "t") };
    expect([await storage.get(other), await storage.sizeOf(other)]).toEqual([null, null]);
  });

  test("deletes a package, and one that does not exist", async () => {
    const stored = sample(100);
    await store(stored);
    await storage.delete(stored.key);
    await storage.delete(stored.key);
    expect([await storage.get(stored.key), await storage.sizeOf(stored.key)]).toEqual([null, null]);
  });

  const good = sample(100_000);
  const mismatches: [title: string, announced: number, content: Uint8Array, message: RegExp][] = [
    ["shorter", good.bytes.length + 1, good.bytes, /must have \d+ bytes as announced; it has \d+\./],
    ["longer", good.bytes.length - 1, good.bytes, /must have \d+ bytes as announced; it has more\./],
    ["with another digest", good.bytes.length, sample(100_000).bytes, /must have digest/],
    ["not gzip", 5, Buffer.from("plain"), /not a gzip archive/],
    ["truncated", good.bytes.length - 9, good.bytes.subarray(0, -9), /damaged/],
  ];
  test.each(mismatches)("stores nothing when the content is %s", async (_, announced, content, message) => {
    const failure = await storage.put(good.key, announced, pieces(content)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ContentMismatch);
    expect((failure as Error).message).toMatch(message);
    expect(await storage.get(good.key)).toBeNull();
  });

  test("takes an upload by its signed URLs", async () => {
    const sent = sample(5000);
    const upload = uploadOf(sent);
    const parts = await storage.signUpload(upload, true, baseUrl);
    expect(parts.map(({ sizeBytes }) => sizeBytes)).toEqual([sent.bytes.length]);
    await receiveUpload(storage, upload, parts[0]?.url ?? "", sent);
    expect((await read(await storage.get(sent.key)))?.equals(sent.bytes)).toBe(true);
  });

  test("signs a download with a file name", async () => {
    const stored = sample(300);
    await store(stored);
    const url = await storage.signDownload(stored.key, Date.now() + 60_000, baseUrl, "dep_1.tar.gz");
    if (storage.verifyUrl !== undefined) {
      const { pathname, searchParams } = new URL(url);
      expect(storage.verifyUrl("GET", pathname, searchParams)).toMatchObject({
        name: "dep_1.tar.gz",
        key: stored.key,
      });
      expect(storage.verifyUrl("PUT", pathname, searchParams)).toBeNull();
      return;
    }
    const response = await fetch(url);
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="dep_1.tar.gz"');
    expect(response.headers.get("content-type")).toBe("application/gzip");
    expect(Buffer.from(await response.arrayBuffer()).equals(stored.bytes)).toBe(true);
    expect((await put(url, stored.bytes)).status).toBe(403);
  });
});

/** What the service does with an upload: it receives the request itself, or confirms it afterwards. */
async function receiveUpload(
  storage: ObjectStorage,
  upload: Upload,
  url: string,
  sent: Sample,
): Promise<void> {
  if (storage.staging === undefined) {
    const { pathname, searchParams } = new URL(url);
    const permitted = storage.verifyUrl?.("PUT", pathname, searchParams);
    expect(permitted).toMatchObject({
      name: upload.uploadId,
      key: sent.key,
      expiresAtMs: upload.expiresAtMs,
    });
    return storage.put(sent.key, sent.bytes.length, pieces(sent.bytes));
  }
  expect(await storage.staging.confirm(upload)).toBe(false);
  expect((await put(url, sent.bytes)).status).toBe(200);
  expect(await storage.get(sent.key)).toBeNull();
  expect(await storage.staging.confirm(upload)).toBe(true);
}
