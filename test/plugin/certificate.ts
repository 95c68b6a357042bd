/** Creates the certificates of the test servers (X.509, RFC 5280), so that the repository holds no private key. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export interface TestCertificates {
  /** PEM of the authority that clients must trust. */
  authority: string;
  certificate: string;
  key: string;
}

const oids = {
  commonName: "550403",
  ecdsaWithSha256: "2a8648ce3d040302",
  basicConstraints: "551d13",
  keyUsage: "551d0f",
  subjectAltName: "551d11",
};

/** Creates an authority and a certificate for the host names. */
export function createCertificates(hostnames: string[]): TestCertificates {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const server = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    authority: certify(1, "test authority", authority.publicKey, authority.privateKey, [
      extension(oids.basicConstraints, der(0x30, der(0x01, Buffer.of(255)))),
      extension(oids.keyUsage, der(0x03, Buffer.of(1, 0b0000_0110))),
    ]),
    certificate: certify(2, "test server", server.publicKey, authority.privateKey, [
      extension(oids.basicConstraints, der(0x30)),
      extension(oids.keyUsage, der(0x03, Buffer.of(7, 0b1000_0000))),
      namesExtension(hostnames),
    ]),
    key: server.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** A certificate for a public key, as PEM. @param days - the period of validity, from now */
export function certify(
  serial: number,
  subject: string,
  publicKey: KeyObject,
  issuerKey: KeyObject,
  extensions: Buffer[],
  days: readonly [number, number] = [-1, 30],
): string {
  const algorithm = der(0x30, oid(oids.ecdsaWithSha256));
  const content = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(serial)),
    algorithm,
    name("test authority"),
    der(0x30, time(days[0]), time(days[1])),
    name(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, ...extensions)),
  );
  const signature = der(0x03, Buffer.of(0), sign("sha256", content, issuerKey));
  const base64 = der(0x30, content, algorithm, signature).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}

/** The DNS names of a certificate. */
export function namesExtension(hostnames: string[]): Buffer {
  const names = hostnames.map((hostname) => der(0x82, Buffer.from(hostname)));
  return extension(oids.subjectAltName, der(0x30, ...names));
}

function extension(id: string, value: Buffer): Buffer {
  return der(0x30, oid(id), der(0x01, Buffer.of(255)), der(0x04, value));
}

function name(commonName: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid(oids.commonName), der(0x0c, Buffer.from(commonName)))));
}

function time(daysFromNow: number): Buffer {
  const text = new Date(Date.now() + daysFromNow * 86_400_000).toISOString().replace(/\.\d+|[-:T]/g, "");
  return der(0x18, Buffer.from(text));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

/** Encodes a value by the distinguished encoding rules: tag, length, content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}
