import { handleProcessEvents } from "./process-events.ts";
import { fail, run } from "./run.ts";

// Nothing should come here; if it does, a person still gets a sentence and not a stack trace.
process.on("uncaughtException", async (error) => {
  process.exit(await fail(error));
});

handleProcessEvents();
process.exitCode = await run(process.argv.slice(2));
