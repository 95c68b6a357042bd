/** Calls other executions. */
import { ExecutionError } from "svc";
import type { Context } from "../../../../project/authoring.ts";

const uses: Record<string, (ctx: Context) => unknown> = {
  echo: (ctx) => ctx.run("echo", { a: [1, null] }, { key: "mine" }),
  order: (ctx) => Promise.all([ctx.run("echo"), ctx.run("echo", {}, { key: "k" }), ctx.run("echo")]),
  many: async (ctx) => {
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => ctx.run("echo", { i })));
    return answers.length;
  },
  fail: async (ctx) => {
    try {
      return await ctx.run("fail");
    } catch (error) {
      if (!(error instanceof ExecutionError)) return "not an ExecutionError";
      const { name, message, executionId, cause } = error;
      return { name, message, executionId, cause: (cause as Error).name };
    }
  },
  uncaughtFail: (ctx) => ctx.run("fail"),
  badInput: (ctx) => ctx.run("echo", { n: 1n } as never),
  badName: (ctx) => ctx.run("x".repeat(65)),
  noObject: (ctx) => ctx.run("echo", [] as never),
  aborted: async (ctx) => {
    try {
      return await ctx.run("gate", { gate: "never" });
    } catch (error) {
      return (error as Error).name;
    }
  },
};

export default async function runs(input: { use: string }, ctx: Context): Promise<unknown> {
  return uses[input.use]?.(ctx);
}
