import { createHash } from "node:crypto";
import type { PackageLimits } from "../limits.ts";
import { decompress } from "./decompress.ts";

/**
 * The digest of a package: the SHA-256 of the uncompressed tar archive, in lower-case hex. The compressed bytes are not
 * part of it, because each runtime's zlib compresses differently.
 *
 * @throws PackageError when a limit is exceeded, or the package is not gzip or damaged
 */
export async function packageDigest(
  source: AsyncIterable<Uint8Array>,
  limits: Pick<PackageLimits, "compressedBytes" | "unpackedBytes">,
): Promise<string> {
  const hash = createHash("sha256");
  await decompress(source, limits, async (archive) => {
    for await (const chunk of archive) hash.update(chunk);
  });
  return hash.digest("hex");
}
