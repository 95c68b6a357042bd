import { createReadStream } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Transform } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import type { DeploymentService, UploadPart } from "../../proto/svc/v1/deployment_pb.ts";
import { CliError } from "../app/errors.ts";
import { noProgress, progressBar } from "../terminal/progress-bar.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

const maxAttempts = 4;
/** Backoff before the second attempt; it doubles with each attempt. */
const minBackoffMs = 300;
const idleTimeoutMs = 60_000;

/** A package to upload. */
export interface Upload {
  /** The file of the package. */
  path: string;
  sizeBytes: number;
  /** SHA-256 of the uncompressed archive, 64 lower-case hexadecimal digits. */
  digest: string;
}

/**
 * Uploads a package to object storage unless it is stored already. A failed upload is retried with a new URL, since
 * the previous attempt may have been stored after all. Of a package in several parts, only the failed part is retried.
 *
 * @param options - `quiet` shows no progress
 * @returns false when the package was stored already
 * @throws CliError `Deployment failed: package upload error`
 */
export async function uploadPackage(
  deployments: Client<typeof DeploymentService>,
  upload: Upload,
  options: { quiet?: boolean } = {},
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const { url, alreadyStored, parts } = await deployments.createUpload({
      digest: upload.digest,
      sizeBytes: BigInt(upload.sizeBytes),
      acceptsParts: true,
    });
    if (alreadyStored) return attempt > 1;
    const whole = { url, start: 0, sizeBytes: upload.sizeBytes };
    const bar = options.quiet ? noProgress : progressBar("Uploading", upload.sizeBytes);
    const sent =
      parts.length === 0 ? put(upload.path, whole, bar.update) : putParts(upload.path, parts, bar.update);
    const failure = await sent.finally(() => bar.end());
    if (failure === null) return true;
    if (!failure.isTransient || parts.length > 0 || attempt === maxAttempts) {
      throw new CliError(
        `Deployment failed: package upload error (${sanitizeLine(failure.reason)}).`,
        "Nothing was deployed. Check the connection to the object storage and run `svc push` again.",
      );
    }
    await backoff(failure, attempt);
  }
}

/** A range of the package's bytes and the URL that takes it. */
interface Part {
  url: string;
  start: number;
  sizeBytes: number;
}

/** @returns the failure of a part that its retries did not resolve, or null */
async function putParts(
  path: string,
  parts: readonly UploadPart[],
  onProgress: (done: number) => void,
): Promise<Failure | null> {
  let start = 0;
  for (const { url, sizeBytes: size } of parts) {
    const sizeBytes = Number(size);
    const part = { url, start, sizeBytes };
    for (let attempt = 1; ; attempt += 1) {
      const failure = await put(path, part, onProgress);
      if (failure === null) break;
      if (!failure.isTransient || attempt === maxAttempts) return failure;
      await backoff(failure, attempt);
    }
    start += sizeBytes;
  }
  return null;
}

async function backoff(failure: Failure, attempt: number): Promise<void> {
  report.warning(`The upload failed (${sanitizeLine(failure.reason)}); retrying.`);
  await delay(minBackoffMs * 2 ** (attempt - 1));
}

interface Failure {
  reason: string;
  /** Whether another attempt may succeed. */
  isTransient: boolean;
}

/**
 * Sends one PUT request. It uses `node:http`, since a streaming `fetch` sends no Content-Length, which S3 requires, and
 * a `fetch` of a buffer reports no progress.
 */
async function put(
  path: string,
  { url, start, sizeBytes }: Part,
  onProgress: (done: number) => void,
): Promise<Failure | null> {
  const request = (url.startsWith("https:") ? httpsRequest : httpRequest)(url, {
    method: "PUT",
    headers: { "Content-Type": "application/gzip", "Content-Length": sizeBytes },
    timeout: idleTimeoutMs,
  });
  request.on("timeout", () => request.destroy(new Error(`no data for ${idleTimeoutMs / 1000} s`)));
  const response = new Promise<Failure | null>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (incoming) => {
      const status = incoming.statusCode ?? 0;
      text(incoming).then((body) => {
        const isSuccess = status >= 200 && status < 300;
        // S3 answers 400 RequestTimeout when it waited too long for the body.
        const isSlow = status === 408 || status === 429 || body.includes("<Code>RequestTimeout</Code>");
        const isTransient = status >= 500 || isSlow;
        const reason = (status < 500 ? errorMessage(body) : null) ?? `HTTP ${status}`;
        resolve(isSuccess ? null : { reason, isTransient });
      }, reject);
    });
  });
  let sent = start;
  const counter = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      sent += chunk.byteLength;
      onProgress(sent);
      done(null, chunk);
    },
  });
  const toFailure = (error: NodeJS.ErrnoException): Failure => ({
    reason: error.code ?? error.message,
    isTransient: true,
  });
  // A storage that rejects the request may respond before it has read the body. The response decides, not the failed
  // write.
  const written = pipeline(createReadStream(path, { start, end: start + sizeBytes - 1 }), counter, request);
  written.catch(() => request.destroy());
  return response.catch(toFailure);
}

/** The message of a JSON error of the service, or the error code of S3; null for another response. */
function errorMessage(body: string): string | null {
  const code = /<Error>[\s\S]*<Code>(\w{1,64})<\/Code>/.exec(body)?.[1];
  if (code !== undefined) return code;
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === "string" ? message.replace(/\.$/, "") : null;
  } catch {
    return null;
  }
}
