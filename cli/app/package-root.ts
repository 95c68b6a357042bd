import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Whether this is the published package, which is compiled. A checkout runs from its sources. */
export const isPublished: boolean = import.meta.url.endsWith(".js");

/** The folder of this package. */
export const packageRoot: string = join(
  fileURLToPath(import.meta.url),
  // The compiled file is one folder deeper, under `dist`.
  isPublished ? "../../../.." : "../../..",
);

/**
 * The path of a page of the documentation, as a user would write it in the current folder.
 *
 * @param page - path in `docs`
 */
export function docsPath(page: string): string {
  const path = join(packageRoot, "docs", page);
  const short = relative(process.cwd(), path);
  return short.startsWith(`..${sep}`) || isAbsolute(short) ? path : short;
}
