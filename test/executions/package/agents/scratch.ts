/** Writes a file to the scratch folder and reads it again. */
import { readFileSync, writeFileSync } from "node:fs";

export default function scratch(input: { text: string }): string {
  writeFileSync("file", input.text);
  return readFileSync("file", "utf8");
}
