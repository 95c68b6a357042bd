/**
 * A thread that ends its process when the server is gone. It waits on standard input, which the server holds open and
 * never writes to: the end of it is the end of the server, and a loop that spins in the main thread changes nothing.
 */
import { readSync } from "node:fs";

/** How long to wait where a read does not, because users' code made the stream non-blocking by looking at it. */
const retryMs = 200;

const sink = Buffer.alloc(64);
const never = new Int32Array(new SharedArrayBuffer(4));

while (serverLives());
try {
  // The whole group, for what users' code may have started where the runtime cannot forbid it.
  process.kill(-process.pid, "SIGKILL");
} catch {
  process.kill(process.pid, "SIGKILL");
}

function serverLives(): boolean {
  try {
    return readSync(0, sink) > 0;
  } catch (error) {
    // Whoever closed standard input took away the only way to notice, and that ends the process too.
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return false;
    Atomics.wait(never, 0, 0, retryMs);
    return true;
  }
}
