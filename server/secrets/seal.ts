/**
 * Secrets at rest. A sealed secret is the text `v1.<key id>.<nonce>.<ciphertext and tag>`, both parts base64url: AES-256-GCM
 * (NIST SP 800-38D) with a random nonce of 12 bytes and a tag of 16. The organization, the name, the version and the key's
 * id are associated data, so that what was sealed for one secret opens as no other.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { MasterKey } from "./master-key.ts";

/** Which secret it is. */
export interface SecretOwner {
  orgId: string;
  /** As `secretNameProblem` allows. */
  name: string;
}

const version = "v1";
const nonceBytes = 12;
const tagBytes = 16;

/** @param value - as `secretValueProblem` allows */
export function sealSecret(master: MasterKey, owner: SecretOwner, value: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", master.key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(associatedData(master.id, owner));
  const sealed = Buffer.concat([cipher.update(value, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return [version, master.id, nonce.toString("base64url"), sealed.toString("base64url")].join(".");
}

/** @throws Error that names the secret, and never its value: sealed under another key, in another version, or altered */
export function openSecret(master: MasterKey, owner: SecretOwner, sealed: string): string {
  const what = `Cannot open the secret '${owner.name}' of ${owner.orgId}`;
  const [sealedVersion, keyId, nonceText = "", boxText = "", ...rest] = sealed.split(".");
  if (sealedVersion !== version) {
    throw new Error(`${what}: it must be sealed in format ${version}, which this server knows.`);
  }
  if (keyId !== master.id) {
    throw new Error(
      `${what}: it must be opened with the master key ${keyId} that sealed it, and this server has ${master.id} (SVC_MASTER_KEY or master.key of the data folder).`,
    );
  }
  const nonce = Buffer.from(nonceText, "base64url");
  const box = Buffer.from(boxText, "base64url");
  const altered = `${what}: what is stored was altered, or sealed for another secret.`;
  if (rest.length > 0 || nonce.length !== nonceBytes || box.length < tagBytes) throw new Error(altered);
  const decipher = createDecipheriv("aes-256-gcm", master.key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(associatedData(master.id, owner));
  decipher.setAuthTag(box.subarray(-tagBytes));
  try {
    return decipher.update(box.subarray(0, -tagBytes), undefined, "utf8") + decipher.final("utf8");
  } catch (error) {
    throw new Error(altered, { cause: error });
  }
}

/** JSON keeps the parts apart whatever they hold. */
function associatedData(keyId: string, { orgId, name }: SecretOwner): Buffer {
  return Buffer.from(JSON.stringify([version, keyId, orgId, name]));
}
