import { PackageError } from "./error.ts";

/** The longest name that common file systems accept. */
const maxSegmentBytes = 255;

/**
 * Records the paths of an archive. Rejects a path that leaves the target folder, occurs twice, or differs from another
 * only in case or Unicode normalization: some file systems treat such paths as one file.
 */
export class PathRegistry {
  /** By folded path. */
  readonly #entries = new Map<string, { path: string; isFolder: boolean }>();
  readonly #maxFolders: number;
  #folders = 0;

  /** `maxFolders` includes folders that only occur inside paths: one path can contain thousands. */
  constructor(maxFolders: number) {
    this.#maxFolders = maxFolders;
  }

  /** Returns the folders that must be created for this file, outermost first. @throws PackageError */
  addFile(path: string): string[] {
    const segments = checkedSegments(path);
    const folders = this.#addFolders(segments.slice(0, -1));
    const existing = this.#entries.get(fold(path));
    if (existing !== undefined) throw conflict(path, existing.path);
    this.#entries.set(fold(path), { path, isFolder: false });
    return folders;
  }

  /** Returns the folders that must be created, this one included. A folder may occur again. @throws PackageError */
  addFolder(path: string): string[] {
    return this.#addFolders(checkedSegments(path));
  }

  #addFolders(segments: string[]): string[] {
    const created: string[] = [];
    let path = "";
    for (const segment of segments) {
      path = path === "" ? segment : `${path}/${segment}`;
      const existing = this.#entries.get(fold(path));
      if (existing?.isFolder && existing.path === path) continue;
      if (existing !== undefined) throw conflict(path, existing.path);
      this.#folders++;
      if (this.#folders > this.#maxFolders) {
        throw new PackageError("limit", `The package has more than ${this.#maxFolders} folders.`);
      }
      this.#entries.set(fold(path), { path, isFolder: true });
      created.push(path);
    }
    return created;
  }
}

/** The form in which a file system that ignores case and Unicode normalization compares paths. */
export function fold(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range, for which lower case is enough
  if (/^[\x00-\x7f]*$/.test(path)) return path.toLowerCase();
  // Upper case first: it maps "ß" to "SS", which lower case alone does not.
  return path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

function checkedSegments(path: string): string[] {
  const segments = path.split("/");
  for (const segment of segments) {
    const problem = problemOf(segment);
    if (problem === null) continue;
    throw new PackageError("malformed", `The package has the path ${displayPath(path)}: ${problem}.`);
  }
  return segments;
}

function problemOf(segment: string): string | null {
  if (segment === "") return "a path is relative and has no empty segments";
  if (segment === "." || segment === "..") return `"${segment}" is not accepted in a path`;
  if (segment.includes("\0")) return "a path contains no NUL";
  if (Buffer.byteLength(segment) > maxSegmentBytes) return `a segment has at most ${maxSegmentBytes} bytes`;
  // On Windows these separate folders, drives and streams.
  if (process.platform === "win32" && /[\\:]/.test(segment)) return '"\\" and ":" are not accepted in a path';
  return null;
}

function conflict(path: string, existing: string): PackageError {
  const message =
    path === existing
      ? `The package has the path ${displayPath(path)} twice.`
      : `The package has the paths ${displayPath(existing)} and ${displayPath(path)}, which are one on some file systems.`;
  return new PackageError("malformed", message);
}

/** An untrusted path in a form that is safe to print. */
export function displayPath(path: string): string {
  const text = JSON.stringify(path.slice(0, 200)).replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd");
  return path.length > 200 ? `${text}…` : text;
}
