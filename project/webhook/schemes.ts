/** Properties of signature schemes that decide which options of a webhook have an effect. */
import type { SignatureScheme } from "../definition.ts";

/**
 * Schemes whose signature covers the sender's delivery id. Only this id counts as idempotency key. The schemes themselves
 * are in the server; a test compares the two.
 */
const signedIds: ReadonlySet<SignatureScheme> = new Set([
  "standard",
  "svix",
  "stripe",
  "slack",
  "discord",
  "mailgun",
  "paddle",
  "sns",
  "square",
  "trello",
  "typeform",
]);

export function signsDeliveryId(scheme: SignatureScheme): boolean {
  return signedIds.has(scheme);
}

/** Schemes that authenticate a GET request: by a header alone, or by the URL with its query. */
export const schemesWithoutBody: readonly SignatureScheme[] = [
  "basic",
  "gitlab",
  "google",
  "token",
  "twilio",
];
