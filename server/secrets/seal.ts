/**
 * Encryption of secrets at rest. A sealed secret is the text `v1.<key id>.<nonce>.<ciphertext and tag>`, the last two parts
 * in base64url: AES-256-GCM (NIST SP 800-38D) with a random nonce of 12 bytes and a tag of 16 bytes. The organization, the
 * name, the version and the key id are associated data, so that a sealed secret cannot be used in place of another.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { MasterKey } from "./master-key.ts";

/** Identifies a secret. */
export interface SecretOwner {
  orgId: string;
  /** Valid according to `secretNameProblem`. */
  name: string;
  /** Empty for a value of the organization. */
  environment?: string;
}

const version = "v1";
const nonceBytes = 12;
const tagBytes = 16;

/** @param value - valid according to `secretValueProblem` */
export function sealSecret(master: MasterKey, owner: SecretOwner, value: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", master.key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(associatedData(master.id, owner));
  const sealed = Buffer.concat([cipher.update(value, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return [version, master.id, nonce.toString("base64url"), sealed.toString("base64url")].join(".");
}

/** @throws Error that names the secret, never its value, if the key or the version differs or the text was changed */
export function openSecret(master: MasterKey, owner: SecretOwner, sealed: string): string {
  const failure = `Cannot open the secret '${owner.name}' of ${owner.orgId}`;
  const [sealedVersion, keyId, nonceText = "", boxText = "", ...rest] = sealed.split(".");
  if (sealedVersion !== version) {
    throw new Error(`${failure}: this server opens format ${version} only.`);
  }
  if (keyId !== master.id) {
    throw new Error(
      `${failure}: it was sealed with the master key ${keyId}, and this server has ${master.id} (SVC_MASTER_KEY or master.key in the data folder).`,
    );
  }
  const nonce = Buffer.from(nonceText, "base64url");
  const box = Buffer.from(boxText, "base64url");
  const altered = `${failure}: the stored text was altered, or sealed for another secret.`;
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

/** JSON separates the parts unambiguously. */
function associatedData(keyId: string, { orgId, name, environment = "" }: SecretOwner): Buffer {
  const own = environment === "" ? [] : [environment];
  return Buffer.from(JSON.stringify([version, keyId, orgId, name, ...own]));
}
