import { isRestError, RestError, redact } from "./error.ts";
import type { Settings } from "./settings.ts";

type Limits = Pick<Settings, "secrets" | "toolResultMaxChars">;

/** Converts a response body for a model: redacted, at most `toolResultMaxChars`, with bytes described. */
export function toToolResult(value: unknown, { secrets, toolResultMaxChars: max }: Limits): unknown {
  if (value instanceof Uint8Array) return `[${value.length} bytes that are neither JSON nor text]`;
  let redacted: unknown;
  let text: string;
  try {
    redacted = redactAll(value, secrets);
    text = typeof redacted === "string" ? redacted : JSON.stringify(redacted);
  } catch {
    return "[JSON that is nested too deeply to show]";
  }
  if (text.length <= max) return redacted;
  return `${truncate(text, max)}\n[truncated to the first ${max} of ${text.length} characters; request less data]`;
}

/** Converts an error for a model. Its cause is dropped, because it may contain the request. */
export function toToolError(error: unknown, limits: Limits): unknown {
  if (!isRestError(error)) return error;
  const { code, status, method, url, retryAfter } = error;
  const headers =
    error.headers &&
    new Headers([...error.headers].map(([name, value]) => [name, redact(value, limits.secrets)]));
  const body = toToolResult(error.body, limits);
  const message = redact(error.message, limits.secrets);
  return new RestError(code, message, { status, method, url, retryAfter, headers, body });
}

function redactAll(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return redact(value, secrets);
  if (Array.isArray(value)) return value.map((item) => redactAll(item, secrets));
  if (typeof value === "object" && value !== null) {
    // fromEntries, because assignment would interpret a member named `__proto__`.
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [redact(key, secrets), redactAll(member, secrets)]),
    );
  }
  const text = String(value);
  return typeof value === "number" && redact(text, secrets) !== text ? "***" : value;
}

/** Truncates a text without splitting a surrogate pair. */
function truncate(text: string, max: number): string {
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max);
}
