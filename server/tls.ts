/** The certificate and key of TLS, checked before the port opens: not every runtime refuses a wrong one by itself. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "./config.ts";

export type TlsFiles = NonNullable<Config["tls"]>;

/**
 * Both files, as PEM.
 * @throws Error that names the file and what is wrong with it
 */
export function readTlsFiles({ certFile, keyFile }: TlsFiles): { cert: Buffer; key: Buffer } {
  const cert = read("--tls-cert", certFile);
  const key = read("--tls-key", keyFile);
  const certificate = parse("--tls-cert", certFile, "a certificate in PEM", () => new X509Certificate(cert));
  const privateKey = parse("--tls-key", keyFile, "an unencrypted private key in PEM", () =>
    createPrivateKey(key),
  );
  if (!belongsTo(certificate, privateKey)) {
    throw new Error(
      `Cannot serve TLS: the key in --tls-key ${keyFile} is not that of the certificate in --tls-cert ${certFile}.`,
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
    // A key of another kind.
    return false;
  }
}
