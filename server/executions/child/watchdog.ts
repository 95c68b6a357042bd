/**
 * A thread that ends its process when the server is gone. It waits on standard input, which the server holds open and
 * never writes to: the end of it is the end of the server, and a loop that spins in the main thread changes nothing.
 */
import { readSync } from "node:fs";

const sink = Buffer.alloc(64);
try {
  while (readSync(0, sink) > 0);
} catch {
  // Whoever closed standard input under this thread took away the only way to notice.
}
try {
  // The whole group, for what users' code may have started where the runtime cannot forbid it.
  process.kill(-process.pid, "SIGKILL");
} catch {
  process.kill(process.pid, "SIGKILL");
}
