/** Encoding and decoding of frames. */
import { describe, expect, test } from "vitest";
import {
  decodeOutput,
  encodeMessages,
  encodeOutput,
  FrameReader,
  FrameWriter,
  frameKinds,
} from "../../server/executions/runner/frames.ts";

describe("FrameReader", () => {
  const messages = [["1"], [], ['"é€"', '{"a":[1]}'], ['"'.concat("x".repeat(5000), '"')]];
  const stream = Buffer.concat([
    ...messages.map((texts) => encodeMessages(texts)),
    encodeOutput("exe_1", '"ü"'),
    encodeMessages(["2"]),
  ]);

  test.each([1, 2, 3, 5, 7, 64, 1000, 4096, 100_000])("in pieces of %i bytes", (size) => {
    const reader = new FrameReader(10_000);
    const frames = [];
    for (let at = 0; at < stream.length; at += size)
      frames.push(...reader.push(stream.subarray(at, at + size)));
    expect(frames.map(({ kind }) => kind)).toEqual([0, 0, 0, 0, frameKinds.output, 0]);
    const bodies = frames
      .filter(({ kind }) => kind === frameKinds.messages)
      .map(({ body }) => body.toString());
    expect(bodies).toEqual([...messages, ["2"]].map((texts) => `[${texts.join(",")}]`));
    const output = frames.find(({ kind }) => kind === frameKinds.output)?.body ?? Buffer.alloc(0);
    expect(decodeOutput(output)).toEqual({ executionId: "exe_1", output: '"ü"' });
  });

  test("rejects a body over the limit by its header", () => {
    const header = Buffer.from([0x7f, 0xff, 0xff, 0xff, 0]);
    expect(() => new FrameReader(10_000).push(header)).toThrow(
      "it sent a frame of 2147483647 bytes, over the limit of 10000",
    );
  });

  test("rejects a truncated output", () => {
    expect(decodeOutput(Buffer.alloc(0))).toBeNull();
    expect(decodeOutput(Buffer.from([5, 1, 2]))).toBeNull();
  });
});

test("FrameWriter sends messages in order, in frames of limited size", () => {
  const frames: Buffer[] = [];
  const writer = new FrameWriter((frame) => frames.push(frame));
  const texts = Array.from({ length: 3000 }, (_, i) => JSON.stringify("y".repeat(i % 400)));
  for (const text of texts.slice(0, 1000)) writer.add(text);
  writer.addOutput("exe_1", '"large"');
  for (const text of texts.slice(1000)) writer.add(text);
  writer.flush();
  writer.flush();
  const reader = new FrameReader(300_000);
  const read = frames.flatMap((frame) => reader.push(frame));
  const at = read.findIndex(({ kind }) => kind === frameKinds.output);
  const parse = (part: typeof read): string[] =>
    part.flatMap(({ body }) => (JSON.parse(body.toString()) as string[]).map((text) => JSON.stringify(text)));
  expect(parse(read.slice(0, at))).toEqual(texts.slice(0, 1000));
  expect(parse(read.slice(at + 1))).toEqual(texts.slice(1000));
});
