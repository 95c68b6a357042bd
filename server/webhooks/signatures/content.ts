/** The signed content of the configurable schemes, from its template. */
import type { SignatureDefinition } from "../../../project/definition.ts";

/** The text around the body. */
export interface SignedContent {
  before: string;
  /** Absent when nothing is signed after the body. */
  after?: string;
}

/** @param seconds - the value of the timestamp header; null when the webhook has none */
export function signedContent(
  { content, timestampHeader }: SignatureDefinition,
  seconds: string | null,
  url: string,
): SignedContent {
  if (content === undefined) return { before: timestampHeader === null ? "" : `${seconds}.` };
  const [before = "", after = ""] = content.split("{body}");
  const fill = (text: string): string =>
    text.replace(/\{(timestamp|url)\}/g, (_all, name) => (name === "url" ? url : (seconds ?? "")));
  return { before: fill(before), ...(after !== "" && { after: fill(after) }) };
}
