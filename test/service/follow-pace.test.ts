import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { FollowPace } from "../../server/services/logs/follow-pace.ts";

test("reads of streams that follow run in their order, and the end of the server ends their pauses", async () => {
  const closing = new AbortController();
  const pace = new FollowPace(closing.signal);
  const order: number[] = [];
  const reads = Array.from({ length: 50 }, (_, n) => pace.read(async () => order.push(n)));
  await reads[0];
  closing.abort();
  await Promise.all(reads);
  await pace.read(async () => order.push(50));
  expect(order).toEqual(Array.from({ length: 51 }, (_, n) => n));
});

test("the work of a stream is done before the next read, also when the store answers later", async () => {
  const pace = new FollowPace(new AbortController().signal);
  const order: string[] = [];
  const stream = async (name: string, read: () => Promise<unknown>) => {
    await pace.read(async () => {
      order.push(`${name} reads`);
      await read();
    });
    for (let n = 0; n < 10; n++) await null;
    order.push(`${name} has sent`);
  };
  await Promise.all([stream("a", async () => {}), stream("b", setImmediate), stream("c", async () => {})]);
  expect(order).toEqual(["a reads", "a has sent", "b reads", "c reads", "c has sent", "b has sent"]);
});

test("a read that fails rejects, and the next one runs", async () => {
  const pace = new FollowPace(new AbortController().signal);
  const failing = pace.read(() => Promise.reject(new Error("The store is closed.")));
  await expect(failing).rejects.toThrow("The store is closed.");
  await expect(pace.read(async () => "rows")).resolves.toBe("rows");
});
