/** The memory of another process. */
import { execFile } from "node:child_process";
import { readFileSync, statfsSync } from "node:fs";

/**
 * Memory of the kernel for one thread, which the resident memory does not include. The charge also limits how many of the
 * machine's process ids a runner takes.
 */
const threadBytes = 128 * 1024;

/** Memory of the kernel for one file of a tmpfs: its inode and its name. */
const fileBytes = 1024;

/** Bytes, threads included, or null when the operating system does not report them. */
export function residentBytes(pid: number): Promise<number | null> {
  return Promise.resolve(process.platform === "linux" ? fromProcfs(pid) : fromPs(pid));
}

function fromProcfs(pid: number): number | null {
  try {
    // Synchronous: procfs answers from memory in about 20 µs, less than a round trip to a thread takes.
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    const threads = Number(/^Threads:\s+(\d+)$/m.exec(status)?.[1] ?? 1);
    return kibibytes === undefined ? null : Number(kibibytes) * 1024 + threads * threadBytes;
  } catch {
    return null;
  }
}

/** POSIX does not define the column `rss`, but every current `ps` has it, in KiB. */
function fromPs(pid: number): Promise<number | null> {
  return new Promise((resolve) => {
    execFile("ps", ["-o", "rss=", "-p", String(pid)], (error, stdout) => {
      const kibibytes = Number.parseInt(stdout, 10);
      resolve(error !== null || Number.isNaN(kibibytes) ? null : kibibytes * 1024);
    });
  });
}

/** Memory of the kernel for the files of a tmpfs, whose size limit counts only their contents. */
export function fileTableBytes(folder: string): number {
  try {
    const { files, ffree } = statfsSync(folder);
    return (files - ffree) * fileBytes;
  } catch {
    return 0;
  }
}
