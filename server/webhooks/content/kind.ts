/** Classifies the `Content-Type` of a webhook request. */
import { isJsonContentType } from "../body.ts";

export type ContentKind = "json" | "form" | "multipart" | "text" | "untyped";

const token = "[!#$%&'*+.^_`|~0-9a-z-]+";
const mediaType = new RegExp(`^[ \\t]*(${token}/${token})[ \\t]*(?:;|$)`, "i");
const charset = /;[ \t]*charset="?([^";, \t]*)/i;

/** Null for a type that is not supported, or a charset other than UTF-8. */
export function contentKindOf(contentType: string | undefined): ContentKind | null {
  if (contentType === "application/json") return "json";
  if (contentType === undefined || contentType === "") return "untyped";
  if (isJsonContentType(contentType)) return "json";
  const type = mediaType.exec(contentType)?.[1]?.toLowerCase();
  if (type === undefined) return null;
  if (type === "multipart/form-data") return "multipart";
  const named = charset.exec(contentType)?.[1]?.toLowerCase();
  if (named !== undefined && !["utf-8", "utf8", "us-ascii"].includes(named)) return null;
  if (type === "application/x-www-form-urlencoded") return "form";
  if (type === "text/json") return "json";
  return type.startsWith("text/") || type === "application/xml" || type.endsWith("+xml") ? "text" : null;
}
