/** Runs handlers of a peer in a process of its own. */
import { sinceTrigger } from "./handler.ts";
import type { Payload } from "./queue.ts";

process.on("message", ({ id, payload }: { id: number; payload: Payload }) => {
  process.send?.({ id, ms: sinceTrigger(payload) });
});
process.once("disconnect", () => process.exit());
process.send?.("ready");
