/**
 * Path templates of `google.api.http` rules, with the whole grammar of google/api/http.proto.
 *
 * Terms: a *segment* is the text between two slashes, a *wildcard* matches one (`*`) or all remaining (`**`) segments, a
 * *variable* is the range of segments whose text is a field, a *custom verb* is the suffix `:verb` of the last segment.
 */
import type { DescField, DescMessage } from "@bufbuild/protobuf";

export interface Template {
  segments: readonly Segment[];
  variables: readonly Variable[];
  /** Empty when there is none. */
  customVerb: string;
}

/** `field` is a variable of one segment, such as `{name}`. */
export type Segment = { literal: string } | { field: string } | { wildcard: "*" | "**" };

interface Variable {
  /** Names of fields, separated by dots. */
  field: string;
  start: number;
  end: number;
  /** Whether it has exactly one segment, whose text is decoded completely. */
  single: boolean;
}

/** @throws Error when the text is not in the grammar, or a variable is no field of the message */
export function parseTemplate(text: string, message: DescMessage): Template {
  const [, path = "", customVerb = ""] = /^\/(.*?)(?::([^/:{}*]+))?$/.exec(text) ?? [];
  const segments: Segment[] = [];
  const variables: Variable[] = [];
  for (const [, field, pattern, plain] of path.matchAll(
    /(?:^|\/)(?:\{([\w.]+)(?:=([^{}]*))?\}|([^/{}]*))(?=\/|$)/g,
  )) {
    const start = segments.length;
    const parts = (field === undefined ? (plain ?? "") : (pattern ?? "*")).split("/");
    for (const part of parts) segments.push(segmentOf(part, text));
    if (field === undefined) continue;
    checkField(message, field, text);
    const single = parts.length === 1 && parts[0] === "*";
    if (single) segments[start] = { field };
    variables.push({ field, start, end: segments.length, single });
  }
  const rest = segments.findIndex((segment) => "wildcard" in segment && segment.wildcard === "**");
  const used = `/${path.replaceAll(/\{[\w.]+(?:=([^{}]*))?\}/g, (_all, pattern = "*") => pattern)}`;
  const rebuilt = segments.map((one) =>
    "literal" in one ? one.literal : "wildcard" in one ? one.wildcard : "*",
  );
  if (text[0] !== "/" || used !== `/${rebuilt.map(decodeURIComponent).join("/")}`)
    throw invalidTemplate(text);
  if (rest >= 0 && rest !== segments.length - 1) throw invalidTemplate(text);
  return { segments, variables, customVerb };
}

function segmentOf(text: string, template: string): Segment {
  if (text === "*" || text === "**") return { wildcard: text };
  if (text === "" || text.includes("*")) throw invalidTemplate(template);
  // Reserved characters of a literal are compared as they are in a URL.
  return { literal: encodeURIComponent(text) };
}

function invalidTemplate(text: string): Error {
  return new Error(
    `Cannot serve the HTTP rule '${text}': it is not a path template of google/api/http.proto.`,
  );
}

function checkField(message: DescMessage, path: string, template: string): void {
  const field = fieldAt(message, path);
  if (field?.fieldKind === "scalar" || field?.fieldKind === "enum") return;
  throw new Error(
    `Cannot serve the HTTP rule '${template}': '${path}' is no single field of ${message.typeName}.`,
  );
}

function fieldAt(message: DescMessage, path: string): DescField | undefined {
  const [name, ...rest] = path.split(".");
  const field = message.fields.find((candidate) => candidate.name === name);
  if (rest.length === 0) return field;
  return field?.fieldKind === "message" ? fieldAt(field.message, rest.join(".")) : undefined;
}

/** The decoded variables by field; null when the path does not match. @param parts - the segments of the path */
export function bind(template: Template, parts: readonly string[]): Record<string, string> | null {
  const { segments, variables, customVerb } = template;
  let path = parts;
  if (customVerb !== "") {
    const last = parts.at(-1) ?? "";
    if (!last.endsWith(`:${customVerb}`)) return null;
    path = [...parts.slice(0, -1), last.slice(0, -customVerb.length - 1)];
  }
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i];
    const part = path[i];
    if (segment !== undefined && "wildcard" in segment && segment.wildcard === "**") break;
    if (segment === undefined || part === undefined || part === "") return null;
    if ("literal" in segment && segment.literal !== part) return null;
  }
  if (path.length > segments.length && !isOpen(template)) return null;
  const values: Record<string, string> = {};
  for (const { field, start, end, single } of variables) {
    const text = decode(path.slice(start, end === segments.length ? undefined : end), single);
    if (text === null) return null;
    values[field] = text;
  }
  return values;
}

/** Whether a template matches paths of any length. */
export function isOpen({ segments }: Template): boolean {
  const last = segments.at(-1);
  return last !== undefined && "wildcard" in last && last.wildcard === "**";
}

/** A slash that is encoded in a variable of several segments stays encoded: it separates no segments. */
function decode(parts: readonly string[], single: boolean): string | null {
  const text = parts.join("/");
  if (!text.includes("%")) return text;
  try {
    if (single) return decodeURIComponent(text);
    return text.replaceAll(
      /(%2f)|(?:(?!%2f).)+/gis,
      (all, slash?: string) => slash ?? decodeURIComponent(all),
    );
  } catch {
    return null;
  }
}

/** Decodes the characters that need no encoding, which are equivalent (RFC 3986, section 6.2.2.2). */
export function normalizePath(path: string): string {
  if (!path.includes("%")) return path;
  return path.replaceAll(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded;
  });
}
