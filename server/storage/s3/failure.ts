/** Maps responses and exceptions of requests to S3 to `StorageError`. */
import { StorageError } from "../errors.ts";

const credentialCodes = new Set([
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "ExpiredToken",
  "InvalidToken",
  "InvalidSecurity",
  "TokenRefreshRequired",
]);
const regionCodes = new Set([
  "PermanentRedirect",
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraint",
]);
const transientStatuses = new Set([408, 429, 500, 502, 503, 504]);
/** Sent with status 400. */
const transientCodes = new Set(["RequestTimeout", "IncompleteBody"]);

/** The error of a response. `xml` is its body. */
export function failureOf(status: number, xml: string): StorageError {
  const reason = errorCode(xml);
  const answer = reason === "" ? `${status}` : `${status} ${reason}`;
  const permanent = (summary: string) => new StorageError(summary, { isPermanent: true });
  if (credentialCodes.has(reason)) return permanent(`it rejects the credentials (${reason})`);
  if (reason === "RequestTimeTooSkewed")
    return permanent("the clock of the server is wrong (RequestTimeTooSkewed)");
  if (reason === "NoSuchBucket") return permanent("the bucket does not exist");
  if (regionCodes.has(reason) || status === 301)
    return permanent(`the bucket is in another region (${answer})`);
  if (transientStatuses.has(status) || transientCodes.has(reason)) {
    return new StorageError(`it answered ${answer}`);
  }
  if (status === 403) return permanent(`it denies access to the bucket (${reason || status})`);
  return permanent(`it answered ${answer}`);
}

/** The error of a request without a complete response. The message of `fetch` may contain addresses. */
export function failureOfFetch(error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  const detail = [code, cause?.code].find((candidate) => typeof candidate === "string");
  const suffix = detail === undefined ? "" : ` (${detail})`;
  return new StorageError(`the connection failed${suffix}`, { cause: error });
}

/** The code of an error document of S3. Empty when there is none. */
export function errorCode(xml: string): string {
  if (!/<Error[\s>]/.test(xml)) return "";
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(xml)?.[1] ?? "";
}
