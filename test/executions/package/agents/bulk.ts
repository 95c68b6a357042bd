/** Returns a text of so many characters. */
export default function bulk(input: { length: number; text?: string }): string {
  return (input.text ?? "x").repeat(input.length);
}
