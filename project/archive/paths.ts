import { PackageError } from "./error.ts";

/** Bytes of one segment, as most file systems limit it. */
const maxSegmentBytes = 255;

/**
 * Keeps what an archive has claimed so far, and refuses a path that would leave the target, that another entry has, or
 * that another one has but for case or Unicode normalization: on some disks those are the same file.
 */
export class PathClaims {
  /** Folded path to its spelling and whether it is a folder. */
  readonly #claims = new Map<string, { path: string; folder: boolean }>();
  readonly #maxFolders: number;
  #folders = 0;

  /** `maxFolders` counts the folders that paths imply, too: one path can imply thousands. */
  constructor(maxFolders: number) {
    this.#maxFolders = maxFolders;
  }

  /** The folders that are new with this file, outermost first. @throws PackageError */
  claimFile(path: string): string[] {
    const segments = checkPath(path);
    const folders = this.#claimFolders(segments.slice(0, -1));
    const earlier = this.#claims.get(fold(path));
    if (earlier !== undefined) throw clash(path, earlier.path);
    this.#claims.set(fold(path), { path, folder: false });
    return folders;
  }

  /** The folders that are new with this one, itself included. A folder may be named many times. @throws PackageError */
  claimFolder(path: string): string[] {
    return this.#claimFolders(checkPath(path));
  }

  #claimFolders(segments: string[]): string[] {
    const fresh: string[] = [];
    let path = "";
    for (const segment of segments) {
      path = path === "" ? segment : `${path}/${segment}`;
      const earlier = this.#claims.get(fold(path));
      if (earlier?.folder && earlier.path === path) continue;
      if (earlier !== undefined) throw clash(path, earlier.path);
      this.#folders++;
      if (this.#folders > this.#maxFolders) {
        throw new PackageError("limit", `The package has more than ${this.#maxFolders} folders.`);
      }
      this.#claims.set(fold(path), { path, folder: true });
      fresh.push(path);
    }
    return fresh;
  }
}

/** How a path would be compared by a file system that knows neither case nor composition. */
export function fold(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII needs none of the rest
  if (/^[\x00-\x7f]*$/.test(path)) return path.toLowerCase();
  // Upper case first: it writes out what lower case alone would keep apart, as "ß" and "ss".
  return path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

function checkPath(path: string): string[] {
  const segments = path.split("/");
  for (const segment of segments) {
    const why = wrongWith(segment);
    if (why === null) continue;
    throw new PackageError("malformed", `The package has the path ${shown(path)}: ${why}.`);
  }
  return segments;
}

function wrongWith(segment: string): string | null {
  if (segment === "") return "a path is relative and has no empty segments";
  if (segment === "." || segment === "..") return `"${segment}" is not accepted in a path`;
  if (segment.includes("\0")) return "a path holds no NUL";
  if (Buffer.byteLength(segment) > maxSegmentBytes) return `a segment has at most ${maxSegmentBytes} bytes`;
  // There they are separators, drives and streams.
  if (process.platform === "win32" && /[\\:]/.test(segment)) return '"\\" and ":" are not accepted in a path';
  return null;
}

function clash(path: string, earlier: string): PackageError {
  const message =
    path === earlier
      ? `The package has the path ${shown(path)} twice.`
      : `The package has the paths ${shown(earlier)} and ${shown(path)}, which are one on some file systems.`;
  return new PackageError("malformed", message);
}

/** A hostile path as it may be shown. */
export function shown(path: string): string {
  const text = JSON.stringify(path.slice(0, 200)).replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd");
  return path.length > 200 ? `${text}…` : text;
}
