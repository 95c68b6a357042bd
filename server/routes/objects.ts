/** Serves the signed URLs of the file storage: PUT of an announced upload, GET of a stored package. */
import { pipeline } from "node:stream/promises";
import { ConnectError } from "@connectrpc/connect";
import { fail, toPublicError } from "../errors.ts";
import type { App } from "../services/app.ts";
import { checkNoDeletion } from "../services/deployments/uploads.ts";
import { ContentMismatch, type ObjectKey } from "../storage/contract.ts";
import { finishUpload, getUpload } from "../store/tables/objects.ts";
import { type Request, type Response, sendError, sendJson } from "./answer.ts";
import { readInTime } from "./body-pace.ts";
import { report } from "./report.ts";
import { requestIdOf } from "./request-id.ts";

/** A package of 50 MiB arrives within two hours; no fixed time suits all sizes and links. */
const pace = { minBytesPerSecond: 8 * 1024, windowMs: 10_000, totalMs: Number.POSITIVE_INFINITY };

export function isObjectPath(path: string): boolean {
  return path.startsWith("/storage/");
}

export async function handleObject(
  app: App,
  request: Request,
  response: Response,
  path: string,
  query: URLSearchParams,
): Promise<void> {
  try {
    const signed = app.storage.verifyUrl?.(request.method ?? "", path, query) ?? null;
    if (signed === null) {
      throw fail("URL_NOT_SIGNED", "This service has not signed the URL for this method.");
    }
    if (signed.expiresAtMs < Date.now()) throw fail("URL_EXPIRED", "The signed URL has expired.");
    if (signed.method === "PUT") await receive(app, request, response, signed.key, signed.name);
    else await send(app, response, signed.key, signed.name);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else {
      const known = toPublicError(mismatchOf(error), (cause) => report(cause, requestIdOf(request)));
      sendError(response, known, { connection: "close" });
    }
  }
}

async function receive(
  app: App,
  request: Request,
  response: Response,
  key: ObjectKey,
  uploadId: string,
): Promise<void> {
  const upload = await app.engine.read(() => getUpload(key.orgId, uploadId));
  if (upload === undefined || upload.digest !== key.digest) {
    throw fail("UPLOAD_CLOSED", "The upload is complete or does not exist.");
  }
  const length = request.headers["content-length"];
  if (length !== undefined && Number(length) !== upload.size_bytes) {
    throw fail(
      "UPLOAD_MISMATCH",
      `The upload must have ${upload.size_bytes} bytes as announced; Content-Length is ${length}.`,
    );
  }
  await checkNoDeletion(app, key);
  await app.storage.put(key, upload.size_bytes, readInTime(request, pace));
  await app.engine.write(() => finishUpload(upload, Date.now()));
  sendJson(response, 200, { digest: key.digest, size_bytes: upload.size_bytes });
}

async function send(app: App, response: Response, key: ObjectKey, name: string): Promise<void> {
  const object = await app.storage.get(key);
  if (object === null) throw fail("NOT_FOUND", "The object does not exist.");
  response.writeHead(200, {
    "content-type": "application/gzip",
    "content-length": String(object.sizeBytes),
    "content-disposition": `attachment; filename="${name.replaceAll(/[^\w.-]/g, "_")}"`,
  });
  await pipeline(object.content, response);
}

/** A truncated upload or one with another digest is a client error. */
function mismatchOf(error: unknown): unknown {
  if (error instanceof ContentMismatch) return fail("UPLOAD_MISMATCH", error.message);
  if (error instanceof ConnectError) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE")
    return fail("BODY_INCOMPLETE", "The upload ended early.");
  return error;
}
