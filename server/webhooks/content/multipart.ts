/**
 * `multipart/form-data` (RFC 7578). A file becomes `{ filename, content_type, size, base64 }`.
 *
 * The runtimes' `Response.formData()` differ: Node refuses boundaries of less than 27 characters, which SendGrid sends, and
 * Bun drops the content types of files.
 */
import type { JsonObject } from "../../../project/json.ts";
import { unwrapped } from "./form.ts";
import { type Content, maxFields, objectOf, refused, tooManyFields } from "./result.ts";

const maxHeaderBytes = 8 * 1024;

export function readMultipart(
  body: Uint8Array,
  contentType: string,
  { depth, files }: { depth: number; files: boolean },
): Content {
  const boundary = /;[ \t]*boundary=(?:"([^"]{1,70})"|([^";, \t]{1,70}))/i.exec(contentType);
  const text = boundary?.[1] ?? boundary?.[2];
  if (text === undefined) return refused("The Content-Type multipart/form-data must have a boundary.");
  const parts = partsOf(Buffer.from(body.buffer, body.byteOffset, body.byteLength), text);
  if (parts === null) {
    return refused("The body must be multipart/form-data with the boundary of its Content-Type.");
  }
  if (parts.length > maxFields) return tooManyFields();
  const fields: [string, string | JsonObject][] = [];
  for (const { head, content } of parts) {
    const name = parameter(head, "name");
    if (name === null) return refused("Each part of multipart/form-data must have a name.");
    const filename = parameter(head, "filename");
    if (filename === null) {
      fields.push([name, content.toString()]);
      continue;
    }
    if (!files) return refused("The webhook does not accept files.");
    const type = /^content-type:[ \t]*([^\r\n]*)/im.exec(head)?.[1]?.trim() ?? "text/plain";
    const file = { filename, content_type: type, size: content.length };
    fields.push([name, { ...file, base64: content.toString("base64") }]);
  }
  return unwrapped(objectOf(fields), depth);
}

interface Part {
  head: string;
  content: Buffer;
}

/** The parts between the delimiters, at most one more than `maxFields`; null for a body without a final delimiter. */
function partsOf(body: Buffer, boundary: string): Part[] | null {
  const parts: Part[] = [];
  const opening = Buffer.from(`--${boundary}`);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const startsAtOnce = body.subarray(0, opening.length).equals(opening);
  const first = startsAtOnce ? 0 : body.indexOf(delimiter);
  if (first < 0) return null;
  let at = first + (startsAtOnce ? opening.length : delimiter.length);
  while (parts.length <= maxFields) {
    if (body.toString("latin1", at, at + 2) === "--") return parts;
    if (body.toString("latin1", at, at + 2) !== "\r\n") return null;
    // The line end before the headers counts as the end of an empty header.
    const headEnd = body.subarray(at, at + maxHeaderBytes).indexOf("\r\n\r\n");
    if (headEnd < 0) return null;
    const start = at + headEnd + 4;
    const end = body.indexOf(delimiter, start);
    if (end < 0) return null;
    parts.push({ head: body.toString("utf8", at + 2, at + headEnd), content: body.subarray(start, end) });
    at = end + delimiter.length;
  }
  return parts;
}

/** A parameter of Content-Disposition. Quotes and line ends in it are percent-encoded (HTML, section 4.10.21.8). */
function parameter(head: string, name: "name" | "filename"): string | null {
  const line = /^content-disposition:[ \t]*form-data([^\r\n]*)/im.exec(head)?.[1];
  const value = new RegExp(`;[ \\t]*${name}=(?:"([^"]*)"|([^";, \\t]+))`, "i").exec(line ?? "");
  const text = value?.[1] ?? value?.[2];
  return text?.replace(/%(22|0D|0A)/gi, (code) => decodeURIComponent(code)) ?? null;
}
