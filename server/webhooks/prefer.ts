/** The `wait` preference of RFC 7240. */

/** The longest wait, in seconds. */
export const maxWaitSeconds = 60;

/**
 * Seconds of `Prefer: wait=<seconds>`, clamped to 60; null when it is absent or not a whole number of at least 1, for a
 * preference that cannot be honoured is to be ignored.
 */
export function parsePreferWait(header: string | string[] | undefined): number | null {
  if (header === undefined) return null;
  const text = Array.isArray(header) ? header.join(",") : header;
  for (const preference of text.split(",")) {
    const match = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference);
    if (match !== null) {
      const seconds = Number(match[1]);
      // The first of several counts (RFC 7240, section 2).
      return seconds >= 1 ? Math.min(seconds, maxWaitSeconds) : null;
    }
  }
  return null;
}
