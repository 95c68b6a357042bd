/** The rate limit of reading a runner's output. */
import { once } from "node:events";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readRateLimited } from "../../server/executions/pool/read-limited.ts";

const chunk = Buffer.alloc(64 * 1024);
const MiB = 2 ** 20;

/** A stream of the given number of bytes, as fast as it is read. */
function source(bytes: number): Readable {
  let left = bytes;
  return new Readable({
    read() {
      this.push(left > 0 ? chunk : null);
      left -= chunk.length;
    },
  });
}

test("delivers all data and the end of the stream", async () => {
  let bytes = 0;
  await readRateLimited(source(3 * MiB), ({ length }) => {
    bytes += length;
  });
  expect(bytes).toBe(3 * MiB);
});

test("reads 256 KiB per turn of the event loop, and the chunk that exceeds it", async () => {
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

test("sustains 32 MiB per second", async () => {
  const startMs = performance.now();
  await readRateLimited(source(80 * MiB), () => {});
  const seconds = (performance.now() - startMs) / 1000;
  // The first 32 MiB are the burst.
  expect(seconds).toBeGreaterThan((80 - 32) / 32 - 0.1);
});

test("resolves when the stream fails", async () => {
  const stream = new Readable({ read() {} });
  const ended = readRateLimited(stream, () => {});
  stream.destroy(new Error("broken"));
  await ended;
  expect(stream.destroyed).toBe(true);
  if (!stream.closed) await once(stream, "close");
});
