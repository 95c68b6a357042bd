/** The version of this package. */
import { readFileSync } from "node:fs";

function read(): string {
  // The first path is right for the sources, the second for the compiled package.
  for (const path of ["../package.json", "../../package.json"]) {
    try {
      return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")).version;
    } catch {
      // Try the other path.
    }
  }
  return "unknown";
}

export const version: string = read();
