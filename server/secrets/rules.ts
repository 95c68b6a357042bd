/** Validates names and values of secrets. */
import { isName, nameRule } from "../../project/names.ts";

/** Maximum size of a value in bytes of UTF-8, enough for a certificate chain. */
export const maxSecretBytes = 65_536;

/** @returns one sentence, or null if the name is valid */
export function secretNameProblem(name: string): string | null {
  return isName(name)
    ? null
    : `Cannot use the secret's name: it must be ${nameRule}, not '${name.slice(0, 100)}'.`;
}

/** @returns one sentence without the value, or null if the value is valid */
export function secretValueProblem(value: string): string | null {
  const bytes = Buffer.byteLength(value);
  if (bytes === 0) return "Cannot store the secret: its value must not be empty.";
  if (bytes > maxSecretBytes) {
    return `Cannot store the secret: its value must have at most ${maxSecretBytes} bytes, and has ${bytes}.`;
  }
  // A lone surrogate has no UTF-8 encoding and would be read back as another character.
  return value.isWellFormed() ? null : "Cannot store the secret: its value must be well-formed Unicode.";
}
