/** Cuts a line to a number of bytes of UTF-8, between characters, and says so. */
export function cutLine(line: string, maxBytes: number): string {
  // Three bytes is the most that one UTF-16 unit takes, so that most lines need no count.
  if (line.length * 3 <= maxBytes) return line;
  const bytes = Buffer.byteLength(line);
  if (bytes <= maxBytes) return line;
  const note = `… (cut: a line may have ${maxBytes} bytes, this one had ${bytes})`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(note));
  return (
    new TextDecoder().decode(Buffer.from(line.slice(0, room)).subarray(0, room), { stream: true }) + note
  );
}
