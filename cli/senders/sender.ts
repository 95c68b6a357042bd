/**
 * The webhooks that `svc webhook add` knows.
 *
 * Glossary: a *sender* is a service that sends webhooks. Its file holds the entry for the project file, and a *sample*: a
 * payload in the form that the sender documents. docs/webhooks/senders has a page for each sender.
 */
import type { JsonObject } from "../../project/json.ts";

export interface Sender {
  /** What users type: lower-case letters and digits. Also the default slug. */
  name: string;
  title: string;
  /** One line for the list. */
  description: string;
  /** The webhook in the form of the project file, without its slug. */
  webhook: JsonObject;
  /** Names of the secrets, each with the value to set. */
  secrets: Readonly<Record<string, string>>;
  /** Where to paste the URL: one or two sentences. */
  setup: string;
  sample: JsonObject;
  /** Headers of the sample that the webhook reads, names in lower case. */
  headers?: Readonly<Record<string, string>>;
}
