import { reportError, run } from "./app/dispatch.ts";
import { handleSignals } from "./app/signals.ts";
import { cleanConsole } from "./terminal/write.ts";

// Errors outside of `run` are reported as a message too, not as a stack trace.
process.on("uncaughtException", async (error) => {
  process.exit(await reportError(error));
});

handleSignals();
cleanConsole();
process.exitCode = await run(process.argv.slice(2));
