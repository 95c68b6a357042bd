import { interruptible } from "./interrupt.ts";
import { run } from "./run.ts";

// A reader that has seen enough (`svc logs | head`) is no failure of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

interruptible();
process.exitCode = await run(process.argv.slice(2));
