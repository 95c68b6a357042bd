import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import type { DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import { CliError } from "../errors.ts";
import { progress } from "../progress.ts";
import { say } from "../say.ts";
import { cleanLine } from "../text.ts";

/** How often the upload is tried in all, and the pause before the second time, in ms; it doubles each time. */
const attempts = 4;
const firstPauseMs = 300;
/** A connection on which nothing moves for so long is given up, in ms. */
const idleTimeoutMs = 60_000;
const chunkBytes = 64 * 1024;

/** A package, ready to be sent. */
export interface Upload {
  bytes: Uint8Array;
  /** SHA-256 of `bytes`, 64 lower-case hexadecimal digits. */
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
      sizeBytes: upload.bytes.byteLength,
    });
    if (alreadyStored) return attempt > 1;
    const bar = progress("Uploading", upload.bytes.byteLength);
    const failure = await put(url, upload.bytes, bar.update).finally(() => bar.end());
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
function put(url: string, bytes: Uint8Array, onProgress: (done: number) => void): Promise<Failure | null> {
  return new Promise((resolve) => {
    const request = (url.startsWith("https:") ? httpsRequest : httpRequest)(url, {
      method: "PUT",
      headers: { "Content-Type": "application/gzip", "Content-Length": bytes.byteLength },
      timeout: idleTimeoutMs,
    });
    const broken = (error: NodeJS.ErrnoException): void =>
      resolve({ reason: error.code ?? error.message, isPassing: true });
    request.on("timeout", () => request.destroy(new Error(`nothing moved for ${idleTimeoutMs / 1000} s`)));
    request.on("error", broken);
    request.on("response", (response) => {
      const status = response.statusCode ?? 0;
      const isPassing = status >= 500 || status === 408 || status === 429;
      response.on("error", broken);
      response.on("end", () => {
        resolve(status >= 200 && status < 300 ? null : { reason: `HTTP ${status}`, isPassing });
      });
      response.resume();
    });

    let sent = 0;
    const send = (): void => {
      if (sent >= bytes.byteLength) {
        request.end();
        return;
      }
      const chunk = bytes.subarray(sent, sent + chunkBytes);
      sent += chunk.byteLength;
      request.write(chunk, (error) => {
        if (error) return;
        onProgress(sent);
        send();
      });
    };
    send();
  });
}
