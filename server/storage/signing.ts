/** Signed URLs of the file storage: HMAC-SHA-256 of method, path, name and expiry, with a key from the data folder. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface SignedPath {
  method: "GET" | "PUT";
  path: string;
  name: string;
  expiresAtMs: number;
}

export function loadSigningKey(dataDir: string): Buffer {
  const file = join(dataDir, "signing.key");
  if (!existsSync(file)) createKeyFile(file);
  return Buffer.from(readFileSync(file, "utf8").trim(), "hex");
}

/** A hard link makes the complete file visible at once and never replaces the file of another process. */
function createKeyFile(file: string): void {
  const temporary = `${file}.${randomBytes(8).toString("hex")}`;
  writeFileSync(temporary, randomBytes(32).toString("hex"), { mode: 0o600 });
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The query string of a signed URL. */
export function signPath(key: Buffer, request: SignedPath): string {
  const query = new URLSearchParams({
    name: request.name,
    expires: String(request.expiresAtMs),
    signature: signature(key, request),
  });
  return query.toString();
}

/** The request that a URL permits; null when the signature is invalid. The caller must check the expiry. */
export function verifyPath(
  key: Buffer,
  method: string,
  path: string,
  query: URLSearchParams,
): SignedPath | null {
  if (method !== "GET" && method !== "PUT") return null;
  const request: SignedPath = {
    method,
    path,
    name: query.get("name") ?? "",
    expiresAtMs: Number(query.get("expires")),
  };
  const expected = Buffer.from(signature(key, request));
  const given = Buffer.from(query.get("signature") ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected) ? request : null;
}

function signature(key: Buffer, { method, path, name, expiresAtMs }: SignedPath): string {
  return createHmac("sha256", key).update(`${method}\n${path}\n${name}\n${expiresAtMs}`).digest("base64url");
}
