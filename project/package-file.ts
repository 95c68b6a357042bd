/** A file for the package. */
export interface CollectedFile {
  /** Relative to the project, with `/` between segments. */
  path: string;
  /** The file with the content, or a link to it. */
  absolutePath: string;
  sizeBytes: number;
  /** Whether its owner has execute permission. */
  executable: boolean;
  /** Content that exists only in memory, such as a bundled dependency. `absolutePath` is then empty. */
  content?: Uint8Array;
}

/** Compares paths by code point. JavaScript's own order is by UTF-16 code unit. */
export function comparePaths(a: string, b: string): number {
  for (let index = 0; index < a.length && index < b.length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    // Surrogates encode the code points above all other units.
    if (left !== right)
      return (isSurrogate(left) ? left + 0x10000 : left) - (isSurrogate(right) ? right + 0x10000 : right);
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
