import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Interrupt, interruptible } from "../../server/interrupt.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

test("a stream that may be interrupted does not keep its items in memory", async () => {
  const sent: WeakRef<object>[] = [];
  async function* items(): AsyncGenerator<object> {
    for (;;) {
      const item = {};
      sent.push(new WeakRef(item));
      yield item;
    }
  }
  const stream = interruptible(items(), new Interrupt());
  while (sent.length < 100) await stream.next();
  await setImmediate();
  collectGarbage();
  expect(sent.slice(0, 90).filter((item) => item.deref() !== undefined)).toEqual([]);
  await stream.return(undefined);
});

test("an interrupt ends a stream that waits for its next item, and the stream's source when it continues", async () => {
  const next = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  async function* items(): AsyncGenerator<number> {
    try {
      yield 1;
      await next.promise;
      yield 2;
    } finally {
      ended.resolve();
    }
  }
  const interrupt = new Interrupt();
  const stream = interruptible(items(), interrupt);
  expect(await stream.next()).toEqual({ done: false, value: 1 });
  const second = stream.next();
  interrupt.raise(new Error("late"));
  await expect(second).rejects.toThrow("late");
  next.resolve();
  await ended.promise;
});

test("an interrupt between two items ends the stream at its next item", async () => {
  async function* items(): AsyncGenerator<number> {
    yield 1;
    await new Promise(() => {});
  }
  const interrupt = new Interrupt();
  const stream = interruptible(items(), interrupt);
  await stream.next();
  interrupt.raise(new Error("late"));
  await expect(stream.next()).rejects.toThrow("late");
});
