import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { readResumableStream } from "../../cli/api/resumable-stream.ts";

/** Sends the messages after the last one that was read; the connection breaks after the first two. */
function brokenOnce() {
  const read: number[] = [];
  let connections = 0;
  return {
    read,
    options: {
      async *connect() {
        connections += 1;
        for (let message = read.length; message < 5; message++) {
          if (connections === 1 && message === 2) throw new ConnectError("reset", Code.Unavailable);
          yield message;
        }
      },
      onMessage: (message: number) => void read.push(message),
      maxOutageMs: 10_000,
    },
  };
}

test("a stream that is complete when it ends is read to its end after a broken connection", async () => {
  const { read, options } = brokenOnce();
  await readResumableStream({ ...options, isOver: (isBroken) => !isBroken });
  expect(read).toEqual([0, 1, 2, 3, 4]);
});

test("a broken connection after the last message ends a stream that needs no more", async () => {
  const { read, options } = brokenOnce();
  await readResumableStream({ ...options, isOver: () => read.length === 2 });
  expect(read).toEqual([0, 1]);
});
