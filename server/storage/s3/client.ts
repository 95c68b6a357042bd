/**
 * Sends requests to S3. A request that fails for a reason that may pass is repeated, so that every request must be
 * idempotent. Response bodies are read here, within time limits.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { S3Config } from "../../config/storage-url.ts";
import { log } from "../../telemetry/log/index.ts";
import { StorageError } from "../errors.ts";
import { failureOf, failureOfFetch } from "./failure.ts";
import { presign, signRequest, type UnsignedRequest } from "./sign.ts";
import type { Timing } from "./timing.ts";

export interface S3Request extends UnsignedRequest {
  /** Statuses of the response that are not errors. */
  accept: readonly number[];
}

export interface S3Response {
  status: number;
  headers: Headers;
  text: string;
}

export interface S3Stream {
  status: number;
  headers: Headers;
  /** Throws `StorageError` when it makes no progress or the connection ends. It may end early. */
  content: AsyncGenerator<Uint8Array, void, void>;
}

export class S3Client {
  readonly config: S3Config;
  readonly timing: Timing;
  /** When the last attempt of a request failed, in Unix milliseconds. */
  failedAtMs = 0;

  constructor(config: S3Config, timing: Timing) {
    this.config = config;
    this.timing = timing;
  }

  /** Sends a request and reads the whole response. */
  send(request: S3Request): Promise<S3Response> {
    return this.retry(`${request.method} ${request.key}`, () => this.#attempt(request, readText));
  }

  /** Sends a GET and returns the body of its response as a stream. Sends it once. */
  async open(request: S3Request): Promise<S3Stream> {
    return this.#attempt(request, async (response, controller) => ({
      status: response.status,
      headers: response.headers,
      content: paced(response, controller, this.timing.idleMs),
    }));
  }

  presign(request: UnsignedRequest, expiresAtMs: number): Promise<string> {
    return presign(this.config, request, expiresAtMs);
  }

  /** @throws StorageError after the last attempt, or at once for a failure that is permanent */
  async retry<T>(title: string, attempt: () => Promise<T>): Promise<T> {
    for (let number = 1; ; number += 1) {
      try {
        return await attempt();
      } catch (error) {
        const failure = failureOfFetch(error);
        if (failure.isPermanent || number >= this.timing.attempts) {
          this.failedAtMs = Date.now();
          log.error(`Object storage: ${title} failed: ${failure.summary}`, { error: failure.cause });
          throw failure;
        }
        await this.backoff(number);
      }
    }
  }

  async backoff(attempt: number): Promise<void> {
    await delay(Math.random() * this.timing.backoffMs * 2 ** (attempt - 1));
  }

  async #attempt<T>(
    request: S3Request,
    read: (response: Response, controller: AbortController) => Promise<T>,
  ): Promise<T> {
    const { timeoutMs, minBytesPerSecond } = this.timing;
    const { method, body, accept } = request;
    const { url, headers } = await signRequest(this.config, request);
    const limitMs = timeoutMs + ((body?.byteLength ?? 0) * 1000) / minBytesPerSecond;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), limitMs);
    try {
      const init: RequestInit = { method, headers, redirect: "manual", signal: controller.signal };
      if (body !== undefined) init.body = body;
      const response = await fetch(url, init);
      if (accept.includes(response.status)) return await read(response, controller);
      throw failureOf(response.status, (await readText(response)).text);
    } catch (error) {
      if (!controller.signal.aborted || error instanceof StorageError) throw error;
      const seconds = Math.round(limitMs / 100) / 10;
      throw new StorageError(`it did not answer within ${seconds} s`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Error documents and lists have a few KiB. */
const maxTextBytes = 1024 * 1024;

async function readText(response: Response): Promise<S3Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxTextBytes) throw new StorageError(`it answered with more than ${maxTextBytes} bytes`);
    chunks.push(chunk);
  }
  return { status: response.status, headers: response.headers, text: Buffer.concat(chunks).toString("utf8") };
}

/** The body of a response. Aborts the request when no piece arrives in time, and when the reader stops early. */
async function* paced(
  response: Response,
  controller: AbortController,
  idleMs: number,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = response.body?.getReader();
  let isOpen = reader !== undefined;
  try {
    while (reader !== undefined && isOpen) {
      const { promise: idle, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => reject(new StorageError(`it sent no data for ${idleMs / 1000} s`)),
        idleMs,
      );
      const { done, value } = await Promise.race([reader.read(), idle]).finally(() => clearTimeout(timer));
      isOpen = !done;
      if (value !== undefined) yield value;
    }
  } finally {
    if (isOpen) controller.abort();
  }
}
