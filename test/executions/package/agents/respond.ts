/** Responds in the way that its input names. */
import type { Context } from "../../../../project/authoring.ts";

const ways: Record<string, (ctx: Context) => unknown> = {
  text: (ctx) => ctx.respond({ body: "hello" }),
  json: (ctx) => ctx.respond({ status: 201, headers: { "X-Kind": "a" }, body: { ok: true } }),
  empty: (ctx) => ctx.respond({ status: 204 }),
  twice(ctx) {
    ctx.respond({ body: "first" });
    ctx.respond({ body: "second" });
  },
  twiceCaught(ctx) {
    ctx.respond({ body: "first" });
    try {
      ctx.respond({ body: "second" });
    } catch (error) {
      return (error as Error).message;
    }
  },
  afterInvalid(ctx) {
    try {
      ctx.respond({ status: 99 });
    } catch {
      ctx.respond({ body: "valid" });
    }
  },
  reentrant(ctx) {
    ctx.respond({
      get body() {
        ctx.respond({ body: "inner" });
        return "outer";
      },
    });
  },
  throws(ctx) {
    ctx.respond({ body: "before" });
    throw new Error("after");
  },
};

export default function respond({ way }: { way: string }, ctx: Context) {
  return ways[way]?.(ctx);
}
