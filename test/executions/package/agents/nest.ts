/** Calls itself so many levels deep. */
import type { Context } from "../../../../project/authoring.ts";

export default async function nest(input: { levels: number }, ctx: Context): Promise<number> {
  if (input.levels === 0) return 0;
  return 1 + ((await ctx.run("nest", { levels: input.levels - 1 })) as number);
}
