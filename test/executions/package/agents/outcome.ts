/** Ends in the way that its input names. */
import type { Context } from "../../../../project/authoring.ts";

const ends: Record<string, (ctx: Context) => unknown> = {
  context: ({ executionId, attempt, trigger, deploymentId, organizationId, environment, secrets }) => ({
    executionId,
    attempt,
    trigger,
    deploymentId,
    organizationId,
    environment,
    secrets,
  }),
  pid: () => process.pid,
  nothing: () => undefined,
  date: () => ({ at: new Date(0), gone: undefined, list: [undefined] }),
  throw: () => {
    throw new TypeError("no such customer", { cause: new Error("the database is closed") });
  },
  throwAggregate: () => {
    throw new AggregateError([new Error("first"), "second"], "both failed");
  },
  throwText: () => {
    throw "just text";
  },
  throwNull: () => {
    throw null;
  },
  throwHostile: () => {
    throw {
      name: "Hostile",
      get message(): string {
        throw new Error("unreadable");
      },
    };
  },
  throwProxy: () => {
    throw new Proxy(
      {},
      {
        has: () => {
          throw new Error("unreadable");
        },
      },
    );
  },
  throwHuge: () => {
    throw new Error("x".repeat(1_000_000));
  },
  throwFinal: () => {
    throw Object.assign(new Error("never again"), { final: true });
  },
  throwPaths: () => {
    throw new Error(
      `at ${new URL(".", import.meta.url).href} and ${process.cwd()}/file and ${process.execPath}`,
    );
  },
  bigint: () => ({ total: [1n] }),
  cycle: () => {
    const parent: Record<string, unknown> = {};
    parent.child = { parent };
    return parent;
  },
  function: () => ({ callback() {} }),
  symbol: () => [Symbol("s")],
  nan: () => ({ mean: Number.NaN }),
  deep: () => {
    let value: unknown = 1;
    for (let i = 0; i < 100_000; i++) value = [value];
    return value;
  },
  levels64: () => nested(64),
  levels65: () => nested(65),
  toJSON: () => ({
    toJSON() {
      throw new Error("will not be stored");
    },
  }),
  exit: () => process.exit(3),
  exitCaught: async () => {
    try {
      process.exit(0);
    } catch {
      // As code does that catches everything.
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    return "went on";
  },
  exitInTimer: () => new Promise(() => setTimeout(() => process.exit(4), 1)),
  uncaught: () =>
    new Promise(() => {
      setTimeout(() => {
        throw new RangeError("thrown by a timer");
      }, 1);
    }),
  rejection: async () => {
    const reported = new Promise((resolve) => process.once("unhandledRejection", resolve));
    Promise.reject(new Error("not handled"));
    await reported;
    return "fine";
  },
  abort: () => process.abort(),
  spin: () => {
    for (;;);
  },
  hang: () => new Promise(() => {}),
  obey: ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  obeyThenSucceed: ({ signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason.name))),
  leakHeap: async () => {
    const kept: unknown[] = [];
    for (;;) {
      kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
      await null;
    }
  },
  leakBuffers: async () => {
    const kept: Buffer[] = [];
    for (;;) {
      kept.push(Buffer.alloc(4 * 2 ** 20, 1));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  },
  keep: () => {
    (globalThis as { kept?: Buffer }).kept ??= Buffer.alloc(88 * 2 ** 20, 1);
    return process.pid;
  },
  secretsFrozen: (ctx) => {
    try {
      (ctx.secrets as Record<string, string>).TOKEN = "changed";
    } catch (error) {
      return (error as Error).name;
    }
    return ctx.secrets.TOKEN;
  },
};

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

export default function outcome(input: { end: string }, ctx: Context): unknown {
  return ends[input.end]?.(ctx);
}
