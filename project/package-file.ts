/** One file of a project as it goes into the package. */
export interface CollectedFile {
  /** Relative to the project, with `/` between segments. */
  path: string;
  /** Where its content lies; for a link, the link. */
  absolutePath: string;
  sizeBytes: number;
  /** Whether its owner may execute it. */
  executable: boolean;
  /** Content that is on no disk, as that of bundled dependencies; `absolutePath` is then empty. */
  content?: Uint8Array;
}

/** Orders paths by code point, the same on every machine; JavaScript's own order is by UTF-16 code unit. */
export function comparePaths(a: string, b: string): number {
  for (let index = 0; index < a.length && index < b.length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    // Surrogates stand for code points over all other units.
    if (left !== right)
      return (isSurrogate(left) ? left + 0x10000 : left) - (isSurrogate(right) ? right + 0x10000 : right);
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
