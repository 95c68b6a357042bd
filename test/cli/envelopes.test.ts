import { expect, test } from "vitest";
import { envelope, readEnvelopes } from "../../cli/api/envelopes.ts";

const messages = ["", "a", "x".repeat(300)].map((text) => Buffer.from(text));
const bytes = Buffer.concat(messages.map(envelope));

async function read(chunks: readonly Uint8Array[], maxBytes = 1000): Promise<string[]> {
  const found: string[] = [];
  const source = (async function* () {
    yield* chunks;
  })();
  for await (const { flags, data } of readEnvelopes(source, maxBytes)) found.push(`${flags}:${data}`);
  return found;
}

test.each([1, 3, 7, 1000])("reads envelopes from chunks of %i bytes", async (size) => {
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  expect(await read(chunks)).toEqual(messages.map((message) => `0:${message}`));
});

test("rejects a stream that ends within an envelope", async () => {
  await expect(read([bytes.subarray(0, -1)])).rejects.toThrow("The stream ended within a message.");
});

test("rejects an envelope over the limit before its content arrives", async () => {
  await expect(read([envelope(Buffer.alloc(200)).subarray(0, 5)], 100)).rejects.toThrow(
    "A message of the stream has 200 bytes; the limit is 100.",
  );
});
