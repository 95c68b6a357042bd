import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CliError } from "./errors.ts";
import { progress } from "./progress.ts";

/** A package to fetch. */
export interface Download {
  url: string;
  sizeBytes: number;
  /** SHA-256, 64 lower-case hexadecimal digits. */
  digest: string;
}

/**
 * Fetches a package to a file. Whole and checked, or not at all: it is written beside its place
 * first, so that no half of it is ever found there.
 */
export async function downloadTo(file: string, download: Download): Promise<void> {
  const partial = join(dirname(file), `.${basename(file)}.${randomUUID()}.partial`);
  try {
    await pipeline(await checkedStream(download), createWriteStream(partial, { flags: "wx" }));
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

/** The package as a stream that fails at its end when it is not what was announced. Shows its progress. */
export async function checkedStream(download: Download): Promise<Readable> {
  const response = await fetch(download.url).catch((error: Error) => {
    throw failed(error.message, error);
  });
  if (!response.ok || response.body === null) throw failed(`HTTP ${response.status}`);
  const bar = progress("Downloading", download.sizeBytes);
  const hash = createHash("sha256");
  let received = 0;
  const check = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      received += chunk.byteLength;
      hash.update(chunk);
      bar.update(received);
      done(received > download.sizeBytes ? failed("it is larger than it should be") : null, chunk);
    },
    flush(done) {
      const isWhole = received === download.sizeBytes && hash.digest("hex") === download.digest;
      done(isWhole ? null : failed("what arrived is not what was pushed"));
    },
    destroy(error, done) {
      bar.end();
      done(error);
    },
  });
  const body = Readable.from(response.body);
  body.on("error", (error) => check.destroy(failed(error.message, error)));
  return body.pipe(check);
}

function failed(reason: string, cause?: Error): CliError {
  return new CliError(`Cannot download the package: ${reason}.`, "Nothing was written. Try again.", {
    cause,
  });
}
