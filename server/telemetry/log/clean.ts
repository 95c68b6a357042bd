/** Removes from a text of the log the parts that would let its reader in. */

/** Of an organization's id the log shows the start, which does not reveal its webhook URLs. */
const organization = /\b(org_[0-9a-z]{6})[0-9a-z]{20}\b/g;
const apiKey = /\b(svc_[A-Za-z0-9-]{1,64})_[A-Za-z0-9_-]{16,256}/g;
/** The password of a URL, for example of the database. */
const password = /\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi;
/** The signature of a signed URL. */
const signature =
  /([?&](?:X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token|signature|sig|token)=)[^\s&"']+/gi;

export function clean(text: string): string {
  return text
    .replace(organization, "$1…")
    .replace(apiKey, "$1_…")
    .replace(password, "$1:…@")
    .replace(signature, "$1…");
}
