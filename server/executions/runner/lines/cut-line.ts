/** The note at the end of a truncated line. */
export const cutNote: RegExp = /… \(truncated: a line may have \d+ bytes, this one had \d+\)$/;

/** Truncates a line to a number of UTF-8 bytes, between characters, with a note. */
export function cutLine(line: string, maxBytes: number): string {
  // A UTF-16 unit takes at most three bytes, so that most lines need no count.
  if (line.length * 3 <= maxBytes) return line;
  const bytes = Buffer.byteLength(line);
  if (bytes <= maxBytes) return line;
  const note = `… (truncated: a line may have ${maxBytes} bytes, this one had ${bytes})`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(note));
  return (
    new TextDecoder().decode(Buffer.from(line.slice(0, room)).subarray(0, room), { stream: true }) + note
  );
}
