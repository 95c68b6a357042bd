import { interruptible } from "./interrupt.ts";
import { fail, run } from "./run.ts";

// A reader that has seen enough (`svc logs | head`) is no failure of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

// Nothing should come here; if it does, a person still gets a sentence and not a stack trace.
process.on("uncaughtException", async (error) => {
  process.exit(await fail(error));
});

interruptible();
process.exitCode = await run(process.argv.slice(2));
