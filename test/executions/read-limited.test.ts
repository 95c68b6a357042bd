/** Who sends without end is read no faster than is its share. */
import { once } from "node:events";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readRateLimited } from "../../server/executions/pool/read-limited.ts";

const chunk = Buffer.alloc(64 * 1024);
const MiB = 2 ** 20;

/** Gives out so many bytes as fast as it is read. */
function source(bytes: number): Readable {
  let left = bytes;
  return new Readable({
    read() {
      this.push(left > 0 ? chunk : null);
      left -= chunk.length;
    },
  });
}

test("everything arrives, and the end is told", async () => {
  let bytes = 0;
  await readRateLimited(source(3 * MiB), ({ length }) => {
    bytes += length;
  });
  expect(bytes).toBe(3 * MiB);
});

test("in one turn of the event loop, a quarter of a MiB and the chunk that passes it", async () => {
  const turns: number[] = [];
  let bytes = 0;
  let counting = true;
  const count = (): void => {
    turns.push(bytes);
    bytes = 0;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  await readRateLimited(source(16 * MiB), ({ length }) => {
    bytes += length;
  });
  counting = false;
  expect(Math.max(...turns)).toBeLessThanOrEqual(256 * 1024 + chunk.length);
});

test("for long, 32 MiB a second", async () => {
  const startMs = performance.now();
  await readRateLimited(source(80 * MiB), () => {});
  const seconds = (performance.now() - startMs) / 1000;
  // The first 32 are free.
  expect(seconds).toBeGreaterThan((80 - 32) / 32 - 0.1);
});

test("a broken stream has ended", async () => {
  const stream = new Readable({ read() {} });
  const ended = readRateLimited(stream, () => {});
  stream.destroy(new Error("broken"));
  await ended;
  expect(stream.destroyed).toBe(true);
  if (!stream.closed) await once(stream, "close");
});
