/**
 * A thread that ends its process when the server has ended. It reads standard input, which the server keeps open and never
 * writes to. End of file means that the server has ended. A blocked main thread does not affect this.
 */
import { readSync } from "node:fs";

/** The interval of reads when users' code has made the stream non-blocking by accessing it. */
const retryMs = 200;

const sink = Buffer.alloc(64);
const never = new Int32Array(new SharedArrayBuffer(4));

while (serverLives());
try {
  // The whole group: users' code may have started processes where the runtime cannot prevent it.
  process.kill(-process.pid, "SIGKILL");
} catch {
  process.kill(process.pid, "SIGKILL");
}

function serverLives(): boolean {
  try {
    return readSync(0, sink) > 0;
  } catch (error) {
    // Any other error means that standard input was closed, so that the end of the server could not be noticed.
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return false;
    Atomics.wait(never, 0, 0, retryMs);
    return true;
  }
}
