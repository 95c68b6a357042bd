/** Verifies Ed25519 signatures (RFC 8032). */
import { createPublicKey, verify } from "node:crypto";

/** @param publicKey - 32 bytes */
export function isEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const x = Buffer.from(publicKey).toString("base64url");
  try {
    const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } });
    return verify(null, message, key, signature);
  } catch {
    // Deno throws for a key that is not a point of the curve; on Node and Bun the verification fails.
    return false;
  }
}
