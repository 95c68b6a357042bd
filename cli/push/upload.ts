import { createReadStream } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Transform } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import type { DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import { CliError } from "../app/errors.ts";
import { cleanLine } from "../terminal/format.ts";
import { progress } from "../terminal/progress-bar.ts";
import { say } from "../terminal/report.ts";

/** How often the upload is tried in all, and the pause before the second time, in ms; it doubles each time. */
const attempts = 4;
const firstPauseMs = 300;
/** A connection on which nothing moves for so long is given up, in ms. */
const idleTimeoutMs = 60_000;

/** A package, ready to be sent. */
export interface Upload {
  /** The file that holds it. */
  path: string;
  sizeBytes: number;
  /** SHA-256 of the uncompressed archive, 64 lower-case hexadecimal digits. */
  digest: string;
}

/**
 * Sends a package to the object storage, unless it is there already. A broken connection is tried again, each time
 * with a new URL: the attempt before may have arrived after all.
 *
 * @returns false when nothing had to be sent
 * @throws CliError `Deployment failed: package upload error`
 */
export async function uploadPackage(
  deployments: Client<typeof DeploymentService>,
  upload: Upload,
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const { url, alreadyStored } = await deployments.createUpload({
      digest: upload.digest,
      sizeBytes: upload.sizeBytes,
    });
    if (alreadyStored) return attempt > 1;
    const bar = progress("Uploading", upload.sizeBytes);
    const failure = await put(url, upload, bar.update).finally(() => bar.end());
    if (failure === null) return true;
    if (!failure.isPassing || attempt === attempts) {
      throw new CliError(
        `Deployment failed: package upload error (${cleanLine(failure.reason)}).`,
        "Nothing was deployed. Check the connection to the object storage and push again.",
      );
    }
    say.warning(`The upload broke off (${cleanLine(failure.reason)}); trying again.`);
    await delay(firstPauseMs * 2 ** (attempt - 1));
  }
}

interface Failure {
  reason: string;
  /** Whether it may work next time. */
  isPassing: boolean;
}

/**
 * One PUT. `node:http` and not `fetch`: a `fetch` that streams has no Content-Length, which S3 requires, and one that
 * does not stream says nothing of its progress.
 */
async function put(url: string, upload: Upload, onProgress: (done: number) => void): Promise<Failure | null> {
  const request = (url.startsWith("https:") ? httpsRequest : httpRequest)(url, {
    method: "PUT",
    headers: { "Content-Type": "application/gzip", "Content-Length": upload.sizeBytes },
    timeout: idleTimeoutMs,
  });
  request.on("timeout", () => request.destroy(new Error(`nothing moved for ${idleTimeoutMs / 1000} s`)));
  const answer = new Promise<Failure | null>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      const status = response.statusCode ?? 0;
      const isPassing = status >= 500 || status === 408 || status === 429;
      text(response).then((body) => {
        const isSuccess = status >= 200 && status < 300;
        const reason = (status < 500 ? errorMessage(body) : null) ?? `HTTP ${status}`;
        resolve(isSuccess ? null : { reason, isPassing });
      }, reject);
    });
  });
  let sent = 0;
  const counter = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      sent += chunk.byteLength;
      onProgress(sent);
      done(null, chunk);
    },
  });
  const broken = (error: NodeJS.ErrnoException): Failure => ({
    reason: error.code ?? error.message,
    isPassing: true,
  });
  // A storage that refuses answers before it has read all: its answer counts, not the write that then fails.
  const written = pipeline(createReadStream(upload.path), counter, request);
  written.catch(() => request.destroy());
  return answer.catch(broken);
}

/** The message of the service's JSON error; null when the object storage answers in another format. */
function errorMessage(body: string): string | null {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === "string" ? message.replace(/\.$/, "") : null;
  } catch {
    return null;
  }
}
