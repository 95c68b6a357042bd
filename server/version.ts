/** The version of this package. */
import { readFileSync } from "node:fs";

function read(): string {
  // One level up from here in the sources, two in the compiled package.
  for (const place of ["../package.json", "../../package.json"]) {
    try {
      return JSON.parse(readFileSync(new URL(place, import.meta.url), "utf8")).version;
    } catch {
      // The other place has it.
    }
  }
  return "unknown";
}

export const version: string = read();
