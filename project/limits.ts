/** Limits for a package. */
export interface PackageLimits {
  /** The gzip-compressed archive, in bytes. */
  compressedBytes: number;
  /** The archive after decompression, headers and padding included, in bytes. */
  unpackedBytes: number;
  /** Number of files. Folders count too. */
  files: number;
}

/** The defaults: 50 MiB compressed, 250 MiB unpacked, 20,000 files. */
export const packageLimits: Readonly<PackageLimits> = {
  compressedBytes: 50 * 1024 * 1024,
  unpackedBytes: 250 * 1024 * 1024,
  files: 20_000,
};

/** The largest project file that is read, in bytes: 256 KiB. */
export const maxProjectFileBytes: number = 256 * 1024;
