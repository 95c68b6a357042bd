/** The `wait` preference of RFC 7240. */

/** The longest wait, in seconds. */
const maxWaitSeconds = 60;

/**
 * Returns the seconds of `Prefer: wait=<seconds>`, at most 60. Returns null when the preference is absent or not a whole
 * number of at least 1: RFC 7240 tells servers to ignore preferences that they cannot honour.
 */
export function parsePreferWait(header: string | string[] | null | undefined): number | null {
  if (header === undefined || header === null) return null;
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
