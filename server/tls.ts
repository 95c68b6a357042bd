/** Reads and checks the TLS certificate and key. Not every runtime rejects an invalid pair. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "./config.ts";

export type TlsFiles = NonNullable<Config["tls"]>;

/** @throws Error that names the file and the problem */
export function readTlsFiles({ certFile, keyFile }: TlsFiles): { cert: Buffer; key: Buffer } {
  const cert = read("--tls-cert", certFile);
  const key = read("--tls-key", keyFile);
  const certificate = parse("--tls-cert", certFile, "a certificate in PEM", () => new X509Certificate(cert));
  const privateKey = parse("--tls-key", keyFile, "an unencrypted private key in PEM", () =>
    createPrivateKey(key),
  );
  if (!belongsTo(certificate, privateKey)) {
    throw new Error(
      `Cannot serve TLS: the key in --tls-key ${keyFile} does not match the certificate in --tls-cert ${certFile}.`,
    );
  }
  return { cert, key };
}

function read(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`Cannot serve TLS: cannot read ${option} ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function parse<T>(option: string, path: string, what: string, attempt: () => T): T {
  try {
    return attempt();
  } catch (error) {
    throw new Error(`Cannot serve TLS: ${option} ${path} does not hold ${what}.`, { cause: error });
  }
}

function belongsTo(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.checkPrivateKey(key);
  } catch {
    // The key has another algorithm.
    return false;
  }
}
