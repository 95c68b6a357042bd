import { expect, test } from "vitest";
import { FollowPace } from "../../server/services/logs/follow-pace.ts";

test("reads of streams that follow run in their order, and the end of the server ends their pauses", async () => {
  const closing = new AbortController();
  const pace = new FollowPace(closing.signal);
  const order: number[] = [];
  const read = (n: number, entries: number): Promise<number> =>
    pace.read(
      async () => order.push(n),
      () => entries,
    );
  // Sending them would take a day.
  await read(0, 1e9);
  const reads = Array.from({ length: 50 }, (_, n) => read(n + 1, 1e9));
  closing.abort();
  await Promise.all(reads);
  await read(51, 1);
  expect(order).toEqual(Array.from({ length: 52 }, (_, n) => n));
});

test("a read that fails rejects, and the next one runs", async () => {
  const pace = new FollowPace(new AbortController().signal);
  const failing = pace.read(
    () => Promise.reject(new Error("The store is closed.")),
    () => 0,
  );
  await expect(failing).rejects.toThrow("The store is closed.");
  await expect(
    pace.read(
      async () => "rows",
      () => 0,
    ),
  ).resolves.toBe("rows");
});
