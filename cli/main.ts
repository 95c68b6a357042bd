import { fail, run } from "./app/dispatch.ts";
import { handleProcessEvents } from "./app/signals.ts";

// Nothing should come here; if it does, a person still gets a sentence and not a stack trace.
process.on("uncaughtException", async (error) => {
  process.exit(await fail(error));
});

handleProcessEvents();
process.exitCode = await run(process.argv.slice(2));
