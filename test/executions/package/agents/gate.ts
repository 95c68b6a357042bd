/** Waits at a gate of the test, then returns its process. */
import type { Context } from "../../../../project/authoring.ts";

export default async function gate(input: { gate: string; then?: "throw" }, ctx: Context): Promise<number> {
  await ctx.run("gate", { gate: input.gate });
  if (input.then === "throw") throw new Error("thrown after the gate");
  return process.pid;
}
