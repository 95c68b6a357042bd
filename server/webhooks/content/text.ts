import { type Content, refused } from "./result.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text as `{ payload }`. */
export function readText(body: Uint8Array): Content {
  const payload = textOf(body);
  if (payload === null) return refused("The body must be UTF-8.");
  const value = { payload };
  return { ok: true, value, text: JSON.stringify(value) };
}

/** Null for bytes that are not UTF-8. */
export function textOf(body: Uint8Array): string | null {
  try {
    return utf8.decode(body);
  } catch {
    return null;
  }
}
