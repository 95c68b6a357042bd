/**
 * Removes escape sequences and control characters: a log entry or a display name could otherwise move the cursor,
 * overwrite earlier lines or set the window's title. Line breaks and tabs stay. `write.ts` applies it to all output.
 */
export function sanitize(text: string): string {
  return text.replace(escapeSequence, "").replace(control, "\ufffd");
}

/** As {@link sanitize}, on one line: for text that must not look like further lines of output. */
export function sanitizeLine(text: string): string {
  return sanitize(text)
    .replace(/\s*\n\s*/g, " ")
    .replace(/\t/g, " ");
}

// ECMA-48 control sequences and operating system commands, complete and on one line: the text may consist of several
// values, and an incomplete sequence in one must not hide the next.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const escapeSequence = /(?:\u001b\[|\u009b)[0-?]*[@-~]|\u001b\][^\p{Cc}]*(?:\u0007|\u001b\\)/gu;
// C0 and C1 except tab and line feed, and the bidirectional control characters.
const control = /[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/gv;

/** Indented JSON, with control characters written as escapes. It parses to the same value. */
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
