/**
 * Texts from elsewhere, made safe for a terminal: a log line or a display name may hold escape sequences that move
 * the cursor, rewrite what stands above or set the window's title. Line breaks and tabs stay.
 */
export function clean(text: string): string {
  return text.replace(escapeSequence, "").replace(control, "\ufffd");
}

/** As {@link clean}, on one line. */
export function cleanLine(text: string): string {
  return clean(text)
    .replace(/\s*\n\s*/g, " ")
    .replace(/\t/g, " ");
}

// ECMA-48 control sequences and operating system commands; both end where the standard says, or with the text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const escapeSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;
// C0 and C1 but for tab and line feed, and the marks that reverse the direction of what follows.
const control = /[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/gv;

/** JSON as people read it, with what a terminal could obey written as escapes. Still the same JSON. */
export function prettyJson(value: unknown): string {
  return escapeControls(JSON.stringify(value, null, 2) ?? "null");
}

/** JSON on one line, for newline-delimited output. */
export function lineJson(value: unknown): string {
  return escapeControls(JSON.stringify(value) ?? "null");
}

function escapeControls(json: string): string {
  return json.replace(/[\u007f-\u009f\p{Bidi_Control}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** For example `3 webhooks`, `1 webhook`. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number} ${number === 1 ? singular : plural}`;
}

/** For example `512 B`, `14.2 KiB`, `3.0 MiB`. */
export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = size / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** A length of time: `12 ms`, `3.4 s`, `2 min 5 s`, `3 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return twoUnits(seconds, 60, "min", "s");
  const minutes = Math.floor(seconds / 60);
  return minutes < 2880 ? twoUnits(minutes, 60, "h", "min") : `${Math.floor(minutes / 1440)} days`;
}

function twoUnits(value: number, size: number, large: string, small: string): string {
  const rest = value % size;
  return `${Math.floor(value / size)} ${large}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}

/** How far a time is from now, in its largest unit: `5 s ago`, `in 3 h`. */
export function distance(time: Date, now: Date = new Date()): string {
  const seconds = Math.round((time.getTime() - now.getTime()) / 1000);
  const size = Math.abs(seconds);
  const text =
    size < 60
      ? `${size} s`
      : size < 3600
        ? `${Math.floor(size / 60)} min`
        : size < 172_800
          ? `${Math.floor(size / 3600)} h`
          : `${Math.floor(size / 86_400)} days`;
  return seconds <= 0 ? `${text} ago` : `in ${text}`;
}

/** A time in the zone of this machine, to the second: `2026-11-20 10:08:05`. */
export function localTime(time: Date): string {
  return zonedTime(time, undefined);
}

/** A time in a zone, `2026-11-20 10:08:05`. Without a zone: that of this machine. */
export function zonedTime(time: Date, timeZone: string | undefined): string {
  // Swedish writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat("sv-SE", {
    ...(timeZone !== undefined && { timeZone }),
    dateStyle: "short",
    timeStyle: "medium",
  }).format(time);
}
