import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { PackageLimits } from "../limits.ts";
import { PackageError } from "./error.ts";

/**
 * Decompresses a package in pieces of 64 KiB and passes the archive to `read`, which must read it to its end.
 *
 * @throws PackageError when a limit is exceeded, or the package is not gzip or damaged
 */
export async function decompress(
  source: AsyncIterable<Uint8Array>,
  limits: Pick<PackageLimits, "compressedBytes" | "unpackedBytes">,
  read: (archive: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  try {
    await pipeline(
      limited(source, limits.compressedBytes, "compressed"),
      createGunzip({ chunkSize: 64 * 1024 }),
      (chunks: AsyncIterable<Uint8Array>) => read(limited(chunks, limits.unpackedBytes, "unpacked")),
    );
  } catch (error) {
    throw fromZlib(error);
  }
}

async function* limited(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  form: "compressed" | "unpacked",
): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw overLimit(maxBytes, form);
    yield chunk;
  }
}

export function overLimit(maxBytes: number, form: "compressed" | "unpacked"): PackageError {
  return new PackageError("limit", `The package has more than ${maxBytes} bytes ${form}.`);
}

function fromZlib(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof PackageError || !/^(Z_|ERR_ZLIB)/.test(code ?? "")) return error;
  return new PackageError("malformed", "The package is not a gzip archive, or its data is damaged.", {
    cause: error,
  });
}
