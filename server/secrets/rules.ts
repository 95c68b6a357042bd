/** What a secret of an organization may be called and hold. */
import { isName, nameRule } from "../../project/names.ts";

/** Bytes of UTF-8 that a secret's value may have; certificates fit, files do not belong here. */
export const maxSecretBytes = 65_536;

/** One sentence that says why there can be no secret of this name; null when there can. */
export function secretNameProblem(name: string): string | null {
  return isName(name)
    ? null
    : `Cannot use the secret's name: it must be ${nameRule}, not '${name.slice(0, 100)}'.`;
}

/** One sentence, without the value, that says why a secret cannot hold it; null when it can. */
export function secretValueProblem(value: string): string | null {
  const bytes = Buffer.byteLength(value);
  if (bytes === 0) return "Cannot keep the secret: its value must not be empty.";
  if (bytes > maxSecretBytes) {
    return `Cannot keep the secret: its value must have at most ${maxSecretBytes} bytes, and has ${bytes}.`;
  }
  // A lone surrogate has no UTF-8 and would come back as another character.
  return value.isWellFormed() ? null : "Cannot keep the secret: its value must be well-formed Unicode.";
}
