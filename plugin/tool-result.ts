import { isRestError, RestError } from "./error.ts";
import type { Settings } from "./settings.ts";

type Limits = Pick<Settings, "secretForms" | "toolResultMaxChars">;

/** An answer as a model may see it: without secrets, without bytes, and not too long. */
export function present(value: unknown, { secretForms, toolResultMaxChars: max }: Limits): unknown {
  if (value instanceof Uint8Array) return `[${value.length} bytes that are neither JSON nor text]`;
  let shown: unknown;
  let text: string;
  try {
    shown = redact(value, secretForms);
    text = typeof shown === "string" ? shown : JSON.stringify(shown);
  } catch {
    return "[JSON that is nested too deeply to be shown]";
  }
  if (text.length <= max) return shown;
  return `${cut(text, max)}\n[cut: the first ${max} of ${text.length} characters; ask for less]`;
}

/** An error as a model may see it. Its cause is left out: it may hold the request. */
export function withoutSecrets(error: unknown, limits: Limits): unknown {
  if (!isRestError(error)) return error;
  const { code, status, method, url, retryAfter } = error;
  const headers = error.headers && new Headers();
  for (const [name, value] of error.headers ?? [])
    headers?.append(name, redactText(value, limits.secretForms));
  const body = present(error.body, limits);
  const message = redactText(error.message, limits.secretForms);
  return new RestError(code, message, { status, method, url, retryAfter, headers, body });
}

function redact(value: unknown, forms: readonly string[]): unknown {
  if (typeof value === "string") return redactText(value, forms);
  if (Array.isArray(value)) return value.map((item) => redact(item, forms));
  if (typeof value === "object" && value !== null) {
    // Not by assignment: a member named `__proto__` is data.
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [redactText(key, forms), redact(member, forms)]),
    );
  }
  const text = String(value);
  return typeof value === "number" && redactText(text, forms) !== text ? "***" : value;
}

function redactText(text: string, forms: readonly string[]): string {
  return forms.reduce((shown, form) => shown.replaceAll(form, "***"), text);
}

/** The beginning of a text, without half a surrogate pair at its end. */
function cut(text: string, max: number): string {
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max);
}
