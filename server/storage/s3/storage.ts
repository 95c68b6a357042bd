/**
 * Objects in a bucket: `packages/<org>/<digest>`, below the prefix of the URL.
 *
 * Clients upload to `uploads/<org>/<upload>/…`, where nothing is trusted. To confirm an upload, the server reads it into a
 * file, verifies it there and stores that file under its digest. A copy inside S3 would transfer less, but the client
 * could replace the upload between the verification and the copy, because its URL remains valid.
 *
 * A large upload has several objects, each with a presigned URL, instead of a multipart upload of S3: the server reads
 * them one after another anyway, and abandoned ones are plain objects that can be deleted.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { ObjectKey, ObjectStorage, Staging, Upload, UploadPart } from "../contract.ts";
import { receive, type StorageLimits, verify } from "../receive.ts";
import { S3Client } from "./client.ts";
import { type Download, download, sizeOf } from "./download.ts";
import { partSizes, partThresholdBytes, putFile } from "./upload.ts";

const contentType = "application/gzip";

export class S3Storage implements ObjectStorage {
  readonly isRemote = true;
  readonly staging: Staging;
  readonly #client: S3Client;
  /** For probes, whose callers wait for a few seconds only. */
  readonly #checkClient: S3Client;
  readonly #temporary: string;
  readonly #limits: StorageLimits;
  #check: Check = { startedAtMs: Number.NEGATIVE_INFINITY, failed: false, result: Promise.resolve() };

  /** @param temporary - an existing folder for packages that are being verified */
  constructor(client: S3Client, temporary: string, limits: StorageLimits) {
    this.#client = client;
    const { config, timing } = client;
    this.#checkClient = new S3Client(config, { ...timing, attempts: 2, timeoutMs: timing.timeoutMs / 2 });
    this.#temporary = temporary;
    this.#limits = limits;
    this.staging = {
      confirm: (upload) => this.#confirm(upload),
      discard: (upload) => this.#discard(upload),
    };
  }

  async put(key: ObjectKey, sizeBytes: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const file = join(this.#temporary, randomUUID());
    try {
      await receive(file, sizeBytes, content);
      await verify(file, key.digest, this.#limits);
      await putFile(this.#client, packageKey(key), file, sizeBytes);
    } finally {
      await rm(file, { force: true });
    }
  }

  async get(key: ObjectKey): Promise<{ sizeBytes: number; content: Readable } | null> {
    const found = await download(this.#client, packageKey(key));
    return found === null ? null : { sizeBytes: found.sizeBytes, content: Readable.from(found.content) };
  }

  sizeOf(key: ObjectKey): Promise<number | null> {
    return sizeOf(this.#client, packageKey(key));
  }

  async delete(key: ObjectKey): Promise<void> {
    await this.#delete(packageKey(key));
  }

  signUpload(upload: Upload, acceptsParts: boolean): Promise<UploadPart[]> {
    const isLarge = acceptsParts && upload.sizeBytes > partThresholdBytes;
    const sizes = isLarge ? partSizes(upload.sizeBytes) : [upload.sizeBytes];
    return Promise.all(
      sizes.map(async (sizeBytes, index) => {
        const key = isLarge ? partKey(upload, index) : wholeKey(upload);
        const headers = { "content-type": contentType, "content-length": String(sizeBytes) };
        const url = await this.#client.presign({ method: "PUT", key, headers }, upload.expiresAtMs);
        return { url, sizeBytes };
      }),
    );
  }

  signDownload(key: ObjectKey, expiresAtMs: number, _baseUrl: string, fileName: string): Promise<string> {
    const query = {
      "response-content-type": contentType,
      "response-content-disposition": `attachment; filename="${fileName.replaceAll(/[^\w.-]/g, "_")}"`,
    };
    return this.#client.presign({ method: "GET", key: packageKey(key), query }, expiresAtMs);
  }

  /** Writes a small object. Readiness probes may call this often, so that a result is used for some seconds. */
  check(): Promise<void> {
    const { timing, failedAtMs } = this.#client;
    const now = Date.now();
    const usedMs = this.#check.failed ? timing.failedCheckMs : timing.checkMs;
    const { startedAtMs } = this.#check;
    if (now - startedAtMs >= usedMs || failedAtMs > startedAtMs) this.#check = this.#startCheck(now);
    return this.#check.result;
  }

  #startCheck(startedAtMs: number): Check {
    const body = new TextEncoder().encode("probe");
    const request = { method: "PUT", key: "probe", body, accept: [200] } as const;
    const check: Check = {
      startedAtMs,
      failed: false,
      result: this.#checkClient.send(request).then(() => {}),
    };
    check.result.catch(() => {
      check.failed = true;
    });
    return check;
  }

  async #confirm(upload: Upload): Promise<boolean> {
    const whole = await download(this.#client, wholeKey(upload));
    try {
      if (whole !== null) await this.put(upload, upload.sizeBytes, whole.content);
      else if (upload.sizeBytes <= partThresholdBytes) return false;
      else await this.put(upload, upload.sizeBytes, this.#parts(upload));
    } catch (error) {
      if (error instanceof PartMissing) return false;
      throw error;
    }
    await this.#discard(upload).catch(() => {}); // The housekeeper repeats it.
    return true;
  }

  async *#parts(upload: Upload): AsyncGenerator<Uint8Array, void, void> {
    for (const index of partSizes(upload.sizeBytes).keys()) {
      const part: Download | null = await download(this.#client, partKey(upload, index));
      if (part === null) throw new PartMissing();
      yield* part.content;
    }
  }

  async #discard(upload: Upload): Promise<void> {
    await this.#delete(wholeKey(upload));
    if (upload.sizeBytes <= partThresholdBytes) return;
    for (const index of partSizes(upload.sizeBytes).keys()) await this.#delete(partKey(upload, index));
  }

  async #delete(key: string): Promise<void> {
    await this.#client.send({ method: "DELETE", key, accept: [200, 204, 404] });
  }
}

interface Check {
  startedAtMs: number;
  failed: boolean;
  result: Promise<void>;
}

class PartMissing extends Error {}

const packageKey = ({ orgId, digest }: ObjectKey): string => `packages/${orgId}/${digest}`;
const wholeKey = ({ orgId, uploadId }: Upload): string => `uploads/${orgId}/${uploadId}/package`;
const partKey = ({ orgId, uploadId }: Upload, index: number): string =>
  `uploads/${orgId}/${uploadId}/part-${index + 1}`;
